import { z } from 'zod';
import { PlatformError } from '../../contracts/errors.js';
import { invalid, parseInput } from '../common/schema.pipe.js';
import { inputOf } from '../openapi/routes.js';
import { TEXT_LIMIT } from './shown-text.js';
import { HEADER_ARGUMENTS, TEXT_BYTES, type ToolOfRoute } from './tool-list.js';

/** What a call comes to as a request of the HTTP API. */
export interface ToolRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Absent: no body. */
  payload?: string;
}

export type Arguments = Readonly<Record<string, unknown>>;

const View = z.object({
  includeContent: z.boolean().default(false),
  contentLimit: z.int().min(1).max(32_000).default(TEXT_LIMIT),
  part: z.enum(['head', 'tail']).default('tail'),
  maxBytes: z.int().min(1).max(TEXT_BYTES.most).default(TEXT_BYTES.default),
});
/** How much of an answer is shown. */
export type View = z.infer<typeof View>;

export const viewOf = (args: Arguments): View => parseInput(View, args, 'the arguments');

export function requestOf(tool: ToolOfRoute, args: Arguments): ToolRequest {
  refuseUnknown(tool, args);
  refuseUnconfirmed(tool, args);
  const { route, info } = tool;
  const { params, body, query } = inputOf(route);
  const url = pathOf(route.path, params, args);
  const isGiven = (name: string) => args[name] !== undefined && tool.arguments[name] !== undefined;
  const asked = query === undefined ? [] : keysOf(query).filter(isGiven);
  const search = new URLSearchParams(asked.flatMap((name) => pairs(name, args[name])));
  const headers = Object.entries(HEADER_ARGUMENTS).flatMap(([header, name]) =>
    isGiven(name) ? [[header.toLowerCase(), String(args[name])]] : [],
  );
  const payload = body && (info.body ? args[info.body] : pick(args, keysOf(body)));
  return {
    method: route.method.toUpperCase(),
    url: search.size > 0 ? `${url}?${search}` : url,
    headers: Object.fromEntries(headers),
    ...(payload !== undefined && { payload: JSON.stringify(payload) }),
  };
}

function refuseUnknown(tool: ToolOfRoute, args: Arguments): void {
  const known = Object.keys(tool.arguments);
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(tool.arguments, name));
  if (unknown.length === 0) return;
  const takes = known.length > 0 ? `it takes ${known.join(', ')}` : 'it takes none';
  const faults = unknown.map((path) => ({ path, message: `is no argument of this tool: ${takes}` }));
  throw invalid('the call', faults);
}

function refuseUnconfirmed({ info }: ToolOfRoute, args: Arguments): void {
  if (!info.confirm) return;
  const named = args[info.confirm];
  if (named === undefined || args.confirm === named) return;
  const message = `is not \`${info.confirm}\` again: a person has to want this, and you type ${JSON.stringify(named)} once more`;
  throw invalid('the call', [{ path: 'confirm', message }]);
}

/** The path with every name in its place. No name may lead to another route. */
function pathOf(path: string, params: Readonly<Record<string, z.ZodType>>, args: Arguments): string {
  return Object.entries(params).reduce((made, [name, schema]) => {
    const given = args[name] ?? (name === 'version' && schema.safeParse('latest').success ? 'latest' : undefined);
    if (given === undefined) throw invalid('the call', [{ path: name, message: 'is required' }]);
    const value = typeof given === 'string' ? given : JSON.stringify(given);
    const parsed = schema.safeParse(value);
    if (!parsed.success || /^\.{0,2}$/.test(value)) {
      const why = parsed.error?.issues[0]?.message ?? 'is not a name';
      throw new PlatformError('NOT_FOUND', `nothing has the name ${JSON.stringify(value)}: it ${why}`);
    }
    return made.replace(`{${name}}`, () => encodeURIComponent(value));
  }, path);
}

function keysOf(schema: z.ZodType): string[] {
  const inner = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

const pick = (args: Arguments, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(args, name) ? [[name, args[name]]] : [])));

function pairs(name: string, value: unknown): [string, string][] {
  return [value].flat().map((item): [string, string] => {
    if (typeof item === 'object') throw invalid('the call', [{ path: name, message: 'is neither text nor a number' }]);
    return [name, String(item)];
  });
}
