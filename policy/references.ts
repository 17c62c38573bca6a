import type { FieldError } from '../contracts/errors.js';
import type { HarnessSpec, Params } from '../contracts/harness.js';
import { nearest } from '../contracts/nearest.js';
import { expandedText } from './shell-text.js';

/** Variables every job has. */
const KNOWN = [
  'EVERDICT_TASK',
  'EVERDICT_TASK_FILE',
  'EVERDICT_MODEL',
  'EVERDICT_RUN_ID',
  'EVERDICT_CASE_ID',
  'EVERDICT_ANSWER_FILE',
  'EVERDICT_USAGE_FILE',
];
const PARAM_PREFIX = 'EVERDICT_PARAM_';

/** `$NAME`, `${NAME}`, `${NAME:-…}`, `${#NAME}`. */
const REFERENCE = /\$(?:\{#?)?(EVERDICT_[A-Za-z0-9_]*)/g;
const TASK = /\bEVERDICT_TASK\b/;

/** The variable a job reads a parameter from: `max-steps` is `EVERDICT_PARAM_MAX_STEPS`. */
export const paramVariable = (name: string): string => `${PARAM_PREFIX}${name.toUpperCase().replaceAll('-', '_')}`;

/** The scripts of a harness, with their place in the spec. */
function scriptsOf(spec: HarnessSpec): { path: string; script: string }[] {
  if (spec.kind !== 'command') return [];
  const setup = spec.setup.map((script, index) => ({ path: `setup[${index}]`, script }));
  return [...setup, { path: 'command', script: spec.command }];
}

export interface UnknownReference {
  name: string;
  nearest?: string;
}

/** `EVERDICT_…` variables a script reads and no job has, each once. Comments and single quotes are not read. */
export function unknownReferences(script: string, params: Params): UnknownReference[] {
  const known = new Set([...KNOWN, ...Object.keys(params).map(paramVariable)]);
  const used = new Set(Array.from(expandedText(script).matchAll(REFERENCE), ([, name = '']) => name));
  return [...used].filter((name) => !known.has(name)).map((name) => ({ name, nearest: nearest(name, known) }));
}

/** What `unknownReferences` found, in words. */
export function referenceFault({ name, nearest: meant }: UnknownReference): string {
  const hint = meant ? `did you mean $${meant}?` : `the job has ${KNOWN.map((known) => `$${known}`).join(', ')}`;
  const param = name.startsWith(PARAM_PREFIX) ? ', which `params` does not declare' : '';
  return `$${name} does not exist${param}; ${hint}`;
}

/** Variables a harness reads and its jobs will not have. */
export function referenceFaults(spec: HarnessSpec): FieldError[] {
  return scriptsOf(spec).flatMap(({ path, script }) =>
    unknownReferences(script, spec.params).map((unknown) => ({ path, message: referenceFault(unknown) })),
  );
}

/** Whether the harness reads its task from the environment, where a task above 100 KB does not fit. */
export function namesTask(spec: HarnessSpec): boolean {
  return scriptsOf(spec).some(({ script }) => TASK.test(script));
}
