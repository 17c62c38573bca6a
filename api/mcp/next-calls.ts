import { ERROR_CODES, type ErrorCode } from '../../contracts/errors.js';
import type { Route } from '../openapi/routes.js';
import type { ListedTool, ToolOfRoute } from './tool-list.js';

/** A call that may be made after a refusal: one that reads, or the refused one again. */
export interface NextCall {
  tool: string;
  why: string;
}

/** What of a tool decides which calls come next. */
interface NextTool {
  info: Pick<ToolOfRoute['info'], 'name' | 'effect'>;
  route: Pick<Route, 'tag'>;
  listed: Pick<ListedTool, 'title'>;
}

/** What lists the things that a path or a body names, by where they are. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  admission: ['list_runtimes'],
  baselines: ['list_baselines', 'list_scorecards'],
  'ci-bindings': ['list_ci_bindings'],
  datasets: ['list_datasets'],
  gates: ['list_gates', 'list_scorecards'],
  harnesses: ['list_harnesses'],
  keys: ['list_keys'],
  members: ['list_members'],
  policies: ['list_policies'],
  queue: ['get_queue', 'list_runs'],
  runs: ['list_runs', 'list_scorecards'],
  runtimes: ['list_runtimes'],
  scorecards: ['list_scorecards'],
  secrets: ['list_secrets'],
  simulate: ['list_runtimes', 'list_scorecards'],
  workspaces: ['list_workspaces'],
};
/** What a submit names. */
const SUBMITTED = ['list_datasets', 'list_harnesses', 'list_runtimes'];
const SIDES = ['list_scorecards', 'list_baselines'];

/** The same for tools that name more than that. */
const OF_TOOL: Readonly<Record<string, readonly string[]>> = {
  diff_scorecards: SIDES,
  gate_scorecard: [...SIDES, 'list_policies'],
  regrade_scorecard: ['list_scorecards', 'list_datasets'],
  run_case: SUBMITTED,
  run_scorecard: [...SUBMITTED, 'list_policies', 'list_baselines'],
};
const RUNTIMES = ['list_runtimes', 'get_runtime_admission'];

const BY_CODE: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  ADMISSION_UNREACHABLE: ['list_runtimes'],
  CAPABILITY_MISSING: RUNTIMES,
  CLUSTER_AUTH: ['inspect_runtime', 'list_secrets'],
  CLUSTER_UNREACHABLE: ['get_runtime'],
  DEMAND_EXCEEDS_ENVELOPE: RUNTIMES,
  FORBIDDEN: ['whoami'],
  HARNESS_NOT_BUILT: ['list_harnesses'],
  NO_CASES: ['list_dataset_cases'],
  NO_RUNTIME_FITS: RUNTIMES,
  QUEUE_FULL: ['get_queue'],
  RUNTIME_DRAINING: ['get_runtime_admission', 'list_runtimes'],
  RUNTIME_REQUIRED: ['list_runtimes'],
  SECRET_MISSING: ['list_secrets'],
  UNAUTHENTICATED: ['whoami'],
  WORKSPACE_REQUIRED: ['list_workspaces'],
};

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/** Of the tools that the connection has, and none that changes something but the refused one itself. */
export function nextCalls(code: string, { info, route }: NextTool, tools: ReadonlyMap<string, NextTool>): NextCall[] {
  const looks = lookups(code, route.tag, info.name)
    .filter((name) => tools.get(name)?.info.effect === 'read')
    .map((tool) => ({ tool, why: tools.get(tool)?.listed.title ?? '' }));
  return tools.has(info.name) ? [...looks, { tool: info.name, why: againAfter(code) }] : looks;
}

function lookups(code: string, tag: string, name: string): readonly string[] {
  if (isErrorCode(code) && BY_CODE[code]) return BY_CODE[code].filter((tool) => tool !== name);
  if (code !== 'NOT_FOUND' && code !== 'CONFLICT') return [];
  const lists = OF_TOOL[name] ?? LISTS[tag] ?? [];
  return lists.filter((tool) => tool !== name);
}

function againAfter(code: string): string {
  if (code === 'WORKSPACE_REQUIRED') return 'once the connection names one in the header x-everdict-workspace';
  if (code === 'FORBIDDEN' || code === 'UNAUTHENTICATED') return 'once the connection has a key that may do this';
  if (isErrorCode(code) && ERROR_CODES[code].isRetryable) return 'later, with the same arguments';
  return 'with what is at fault put right';
}
