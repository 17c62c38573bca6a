import type { Type } from '@nestjs/common';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../contracts/errors.js';
import { PROBLEM_TYPE } from '../common/problem.js';
import { WORKSPACE_HEADER } from '../identity/workspace-header.js';
import type { OperationInfo } from './operation.js';
import { inputOf, type Route, routesOf } from './routes.js';
import { SchemaBook } from './schemas.js';

type Json = Record<string, unknown>;

/** Codes that any route may refuse with. */
const COMMON_REFUSALS: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'FORBIDDEN',
  'TOO_MANY_REQUESTS',
  'INTERNAL',
  'STORE_TIMEOUT',
  'STORE_UNAVAILABLE',
];
/** Codes that any route may refuse a caller with. */
const CALLER_REFUSALS: readonly ErrorCode[] = [
  'WORKSPACE_REQUIRED',
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'ISSUER_UNREACHABLE',
];
const WORKSPACE_PARAMETER = {
  name: WORKSPACE_HEADER,
  in: 'header',
  description: 'Which workspace is meant; needed by whoever is in several',
  schema: { type: 'string' },
};

/** The OpenAPI 3.1 description of what the controllers declare. */
export function openApiDocument(controllers: readonly Type<unknown>[], version: string): Json {
  const book = new SchemaBook();
  const paths: Record<string, Json> = {};
  for (const controller of controllers) {
    for (const route of routesOf(controller)) {
      paths[route.path] = { ...paths[route.path], [route.method]: operation(route, book) };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Everdict',
      version,
      description:
        'Runs agent evals on compute its users own. Errors are `application/problem+json` with a stable `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: book.components,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a token of the identity provider' },
      },
    },
  };
}

function operation(route: Route, book: SchemaBook): Json {
  const { tag, id, info, rule } = route;
  const isPublic = rule.permission === 'public';
  const { params, body, query } = inputOf(route);
  const parameters = [
    ...pathParameters(params, book),
    ...headerParameters(info),
    ...(isPublic ? [] : [WORKSPACE_PARAMETER]),
    ...queryParameters(query, book),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary: info.summary,
    security: isPublic ? [] : [{ bearer: [] }],
    'x-everdict-permission': rule.permission,
    ...(info.description ? { description: info.description } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: requestBody(body, info, book) } : {}),
    responses: { [info.answer.status]: success(info, book), ...refusals(info, body !== undefined, isPublic) },
  };
}

function pathParameters(params: Readonly<Record<string, z.ZodType>>, book: SchemaBook): Json[] {
  return Object.entries(params).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    schema: book.jsonSchema(schema),
  }));
}

function headerParameters({ headers = {} }: OperationInfo): Json[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }));
}

const ObjectSchema = z.looseObject({
  properties: z.record(z.string(), z.looseObject({})).default({}),
  required: z.array(z.string()).default([]),
});

function queryParameters(query: z.ZodType | undefined, book: SchemaBook): Json[] {
  if (query === undefined) return [];
  const { properties, required } = ObjectSchema.parse(book.jsonSchema(query));
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}

function requestBody(body: z.ZodType, { bodyExample, bodyTypes = [] }: OperationInfo, book: SchemaBook): Json {
  const json = { schema: book.jsonSchema(body), ...(bodyExample === undefined ? {} : { example: bodyExample }) };
  const others = bodyTypes.map((type) => [type, { schema: { type: 'string' } }]);
  return { required: true, content: { 'application/json': json, ...Object.fromEntries(others) } };
}

function success({ answer }: OperationInfo, book: SchemaBook): Json {
  const example = answer.example === undefined ? {} : { example: answer.example };
  const content: Json = answer.schema
    ? { [answer.type ?? 'application/json']: { schema: book.jsonSchema(answer.schema), ...example } }
    : { [answer.type ?? 'text/plain']: {} };
  if (answer.orType) content[answer.orType] = {};
  return { description: 'Success', content };
}

/** Refusals by status; each names its codes. */
function refusals({ refuses = [] }: OperationInfo, hasBody: boolean, isPublic: boolean): Json {
  const callerCodes = isPublic ? [] : CALLER_REFUSALS;
  const bodyCodes: readonly ErrorCode[] = hasBody
    ? ['UPLOAD_INCOMPLETE', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
    : [];
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set([...COMMON_REFUSALS, ...callerCodes, ...bodyCodes, ...refuses])) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.map((code) => `\`${code}\``).join(', '), content },
    ]),
  );
}
