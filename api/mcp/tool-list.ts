import { z } from 'zod';
import { untrusted } from '../../contracts/untrusted.js';
import { AskedVersion } from '../common/spec-params.js';
import type { ToolInfo } from '../common/tool.js';
import { inputOf, type Route } from '../openapi/routes.js';
import { TEXT_LIMIT } from './shown-text.js';
import { holdsText, jsonSchemaOf, shownSchema } from './wrap.js';

type Json = Record<string, unknown>;

/** Headers that are an argument. */
export const HEADER_ARGUMENTS: Readonly<Record<string, string>> = {
  'Idempotency-Key': 'idempotencyKey',
  'X-Everdict-Check': 'checkToken',
};

/** Text that a route answers with, in place of JSON. */
export const TextAnswer = z.strictObject({
  bytes: z.int().describe('Of the whole text'),
  part: z.enum(['head', 'tail']),
  text: untrusted('job'),
});

/** Bytes of such a text. */
export const TEXT_BYTES = { default: 16_384, most: 262_144 };

/** A route as a tool. */
export interface ToolOfRoute {
  info: ToolInfo;
  route: Route;
  /** By name. */
  arguments: Readonly<Record<string, z.ZodType>>;
  /** What the route answers, as JSON; absent: nothing, or text. */
  answer?: z.ZodType;
  isText: boolean;
  /** As `tools/list` has it. */
  listed: ListedTool;
}

export interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: Json & { type: 'object' };
  outputSchema?: Json & { type: 'object' };
  annotations: { title: string; readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
  _meta: { 'everdict/permission': string; 'everdict/route': string };
}

/** Every tool, by name. */
export function toolsOf(routes: readonly Route[]): ReadonlyMap<string, ToolOfRoute> {
  const tools = routes.flatMap((route) => (route.tool ? [toolOf(route, route.tool)] : []));
  const byName = new Map(tools.map((tool) => [tool.info.name, tool]));
  if (byName.size < tools.length) throw new Error('two routes declare the same tool');
  return byName;
}

function toolOf(route: Route, info: ToolInfo): ToolOfRoute {
  const { answer, summary, description } = route.info;
  const isText = answer.schema === undefined && answer.status !== 204;
  const args = argumentsOf(route, info, isText);
  const shown = answer.schema ?? (isText ? TextAnswer : undefined);
  return {
    ...{ info, route, arguments: args, isText },
    ...(answer.schema && { answer: answer.schema }),
    listed: {
      name: info.name,
      title: summary,
      description: [`${summary}.`, description, confirmation(info)].filter(Boolean).join('\n\n'),
      inputSchema: { ...jsonSchemaOf(z.strictObject(args)), type: 'object' },
      ...(shown && { outputSchema: { ...shownSchema(shown), type: 'object' } }),
      annotations: {
        title: summary,
        readOnlyHint: info.effect === 'read',
        destructiveHint: info.effect === 'destroy',
        idempotentHint: info.effect === 'read' || info.isIdempotent === true,
      },
      _meta: { 'everdict/permission': route.rule.permission, 'everdict/route': `${route.method} ${route.path}` },
    },
  };
}

const confirmation = ({ confirm }: ToolInfo): string | undefined =>
  confirm && `Cannot be taken back: type \`${confirm}\` again as \`confirm\`, and only where a person asked for this.`;

function argumentsOf(route: Route, info: ToolInfo, isText: boolean): Record<string, z.ZodType> {
  const { params, body, query } = inputOf(route);
  const headers = Object.entries(route.info.headers ?? {}).flatMap(([header, why]) => {
    const name = HEADER_ARGUMENTS[header];
    return name ? [[name, z.string().optional().describe(why)] as const] : [];
  });
  const named = Object.entries(params).map(
    ([name, schema]) => [name, schema === AskedVersion ? LATEST : schema] as const,
  );
  const all = {
    ...Object.fromEntries(named),
    ...(query && shapeOf(query, route)),
    ...(body && (info.body ? { [info.body]: body } : shapeOf(body, route))),
    ...Object.fromEntries(headers),
    ...(info.confirm && { confirm: z.string().describe(`\`${info.confirm}\` again, to confirm the call`) }),
    ...(route.info.answer.schema &&
      holdsText(route.info.answer.schema) &&
      (info.isContent ? LIMIT : { ...ASKED, ...LIMIT })),
    ...(isText && TEXT),
  };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !info.omit?.includes(name)));
}

const LATEST = AskedVersion.default('latest').describe('`latest` is the highest');

/** Arguments of every tool whose answer may hold text of others. */
const ASKED = {
  includeContent: z.boolean().default(false).describe('Also the texts of others, each labelled and cut'),
};
const LIMIT = {
  contentLimit: z.int().min(1).max(32_000).default(TEXT_LIMIT).describe('Characters of each such text'),
};

const TEXT = {
  part: z.enum(['head', 'tail']).default('tail').describe('Which end of the text, where it is longer than `maxBytes`'),
  maxBytes: z.int().min(1).max(TEXT_BYTES.most).default(TEXT_BYTES.default).describe('Bytes of the text'),
};

function shapeOf(schema: z.ZodType, { method, path }: Route): Record<string, z.ZodType> {
  const inner = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  if (inner instanceof z.ZodObject) return inner.shape;
  throw new Error(`the tool of ${method} ${path} has to say which argument is the whole body`);
}
