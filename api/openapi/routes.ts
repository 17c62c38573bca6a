import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import { z } from 'zod';
import { type AccessRule, accessRuleOf } from '../common/requires.js';
import { type ToolInfo, toolInfoOf } from '../common/tool.js';
import { OPERATION, type OperationInfo } from './operation.js';

interface RouteArgument {
  index: number;
  data?: unknown;
  schema?: unknown;
}

export interface Route {
  /** In small letters. */
  method: string;
  /** `/datasets/{id}`. */
  path: string;
  tag: string;
  /** Name of the method that handles it. */
  handler: string;
  id: string;
  info: OperationInfo;
  /** Absent: it is not offered over MCP. */
  tool?: ToolInfo;
  rule: AccessRule;
  args: { kind: RouteParamtypes; argument: RouteArgument }[];
}

/** The routes of a controller that say what they are. */
export function routesOf(controller: Type<unknown>): Route[] {
  const base: unknown = Reflect.getMetadata(PATH_METADATA, controller);
  const prototype: object = controller.prototype;
  return Object.getOwnPropertyNames(prototype).flatMap((name): Route[] => {
    const handler: unknown = Reflect.get(prototype, name);
    if (typeof handler !== 'function') return [];
    const info: OperationInfo | undefined = Reflect.getMetadata(OPERATION, handler);
    const method: RequestMethod | undefined = Reflect.getMetadata(METHOD_METADATA, handler);
    if (info === undefined || method === undefined) return [];
    const rule = accessRuleOf(handler);
    const path = joinPath(String(base), String(Reflect.getMetadata(PATH_METADATA, handler)));
    const declared: Record<string, RouteArgument> = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
    // `<kind>:<index>`. Decorators of our own have a random name there, which may begin with a digit.
    const args = Object.entries(declared)
      .filter(([key]) => /^\d+:\d+$/.test(key))
      .map(([key, argument]) => ({ kind: parseInt(key, 10), argument }))
      .sort((a, b) => a.argument.index - b.argument.index);
    const tag = path.split('/')[1] ?? '';
    const tool = toolInfoOf(handler);
    const what = { path, tag, handler: name, id: `${tag}_${name}`, info, rule, args };
    return [{ method: RequestMethod[method].toLowerCase(), ...what, ...(tool && { tool }) }];
  });
}

/** `datasets` and `:id` make `/datasets/{id}`. */
function joinPath(...parts: readonly string[]): string {
  const segments = parts.flatMap((part) => part.split('/')).filter((segment) => segment !== '');
  return `/${segments.map((segment) => segment.replace(/^:(\w+)$/, '{$1}')).join('/')}`;
}

/** Schemas of what a route takes. */
interface RouteInput {
  /** By name, in the order of the path. */
  params: Readonly<Record<string, z.ZodType>>;
  body?: z.ZodType;
  query?: z.ZodType;
}

export function inputOf({ args, info }: Route): RouteInput {
  const schemaOf = (kind: RouteParamtypes) => {
    const schema = args.find((arg) => arg.kind === kind)?.argument.schema;
    return schema instanceof z.ZodType ? schema : undefined;
  };
  const params = args
    .filter(({ kind }) => kind === RouteParamtypes.PARAM)
    .map(({ argument: { data, schema } }) => [String(data), schema instanceof z.ZodType ? schema : z.string()]);
  const body = info.body ?? schemaOf(RouteParamtypes.BODY);
  const query = info.query ?? schemaOf(RouteParamtypes.QUERY);
  return { params: Object.fromEntries(params), ...(body && { body }), ...(query && { query }) };
}
