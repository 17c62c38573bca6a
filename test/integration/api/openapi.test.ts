import { z } from 'zod';
import { EvalCase } from '../../../contracts/case.js';
import { Dataset } from '../../../contracts/dataset.js';
import { HarnessSpec } from '../../../contracts/harness.js';
import { RunView } from '../../../contracts/run.js';
import { RuntimeSpec } from '../../../contracts/runtime.js';
import { RunRequest, ScorecardRequest, ScorecardView } from '../../../contracts/scorecard.js';
import { type Api, type Reply, startApi } from './server.js';

let api: Api;
let document: Reply['body'];
beforeAll(async () => {
  api = await startApi();
  document = (await api.send('GET', '/openapi.json')).body;
}, 60_000);
afterAll(() => api.close());

const ROUTES = [
  'delete /baselines/{name}',
  'delete /ci-bindings/{id}',
  'delete /keys/{id}',
  'delete /members/{subject}',
  'delete /scorecards/{id}',
  'delete /secrets/{name}',
  'get /.well-known/oauth-protected-resource',
  'get /.well-known/oauth-protected-resource/mcp',
  'get /admission/audit',
  'get /audit',
  'get /baselines',
  'get /baselines/{name}',
  'get /ci-bindings',
  'get /datasets',
  'get /datasets/{id}/versions/{version}',
  'get /datasets/{id}/versions/{version}/cases',
  'get /datasets/{id}/versions/{version}/cases.jsonl',
  'get /docs',
  'get /gates',
  'get /gates/{id}',
  'get /harnesses',
  'get /harnesses/{id}/versions/{version}',
  'get /healthz',
  'get /keys',
  'get /members',
  'get /metrics',
  'get /openapi.json',
  'get /policies',
  'get /policies/{id}/versions/{version}',
  'get /queue',
  'get /readyz',
  'get /retention',
  'get /runs',
  'get /runs/{id}',
  'get /runs/{id}/attempts',
  'get /runs/{id}/logs',
  'get /runs/{id}/waiting',
  'get /runtimes',
  'get /runtimes/{id}/admission',
  'get /runtimes/{id}/versions/{version}',
  'get /runtimes/{id}/versions/{version}/inspect',
  'get /scorecards',
  'get /scorecards/diff',
  'get /scorecards/{id}',
  'get /scorecards/{id}/cases',
  'get /scorecards/{id}/events',
  'get /scorecards/{id}/export',
  'get /scorecards/{id}/stragglers',
  'get /scorecards/{id}/trials',
  'get /secrets',
  'get /whoami',
  'get /workspaces',
  'get /workspaces/{id}',
  'patch /members/{subject}',
  'patch /runtimes/{id}/admission',
  'patch /workspaces/{id}',
  'post /ci-bindings',
  'post /datasets',
  'post /datasets/{id}/versions/{version}/confirm',
  'post /datasets/{id}/versions/{version}/deprecate',
  'post /datasets/{id}/versions/{version}/restore',
  'post /gates/{id}/override',
  'post /harnesses',
  'post /harnesses/{id}/versions/{version}/confirm',
  'post /harnesses/{id}/versions/{version}/deprecate',
  'post /harnesses/{id}/versions/{version}/restore',
  'post /keys',
  'post /mcp',
  'post /members',
  'post /policies',
  'post /queue/{runId}/promote',
  'post /runs',
  'post /runs/{id}/cancel',
  'post /runtimes',
  'post /runtimes/probe',
  'post /runtimes/validate',
  'post /runtimes/{id}/admission/reset-circuit',
  'post /runtimes/{id}/versions/{version}/confirm',
  'post /runtimes/{id}/versions/{version}/deprecate',
  'post /runtimes/{id}/versions/{version}/restore',
  'post /scorecards',
  'post /scorecards/gate',
  'post /scorecards/{id}/cancel',
  'post /scorecards/{id}/cases/{caseId}/settle',
  'post /scorecards/{id}/pause',
  'post /scorecards/{id}/regrade',
  'post /scorecards/{id}/restore',
  'post /scorecards/{id}/resume',
  'post /scorecards/{id}/retry',
  'post /secrets/rotate-key',
  'post /simulate',
  'post /workspaces',
  'put /baselines/{name}',
  'put /datasets/{id}/versions/{version}/tags',
  'put /harnesses/{id}/versions/{version}/tags',
  'put /retention',
  'put /runtimes/{id}/versions/{version}/tags',
  'put /secrets/{name}',
];

/** Every `$ref` below a value. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

/** The schema with every reference replaced by what it refers to, but for the one that refers to itself. */
function inlined(schema: unknown, definitions: Record<string, unknown>): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => inlined(item, definitions));
  if ('$ref' in schema && typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? '';
    if (name === 'JsonValue' || name.startsWith('__schema')) return 'any JSON';
    return inlined(definitions[name], definitions);
  }
  return Object.fromEntries(Object.entries(schema).map(([key, member]) => [key, inlined(member, definitions)]));
}

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 and describes every route once', () => {
    expect(document.openapi).toBe('3.1.0');
    const operations: [string, Reply['body']][] = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Reply['body']] => [`${method} ${path}`, operation]),
    );
    expect(operations.map(([name]) => name).sort()).toEqual(ROUTES);
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(ROUTES.length);
    for (const [name, operation] of operations) {
      expect([name, operation.summary?.length > 0]).toEqual([name, true]);
      const inPath = (operation.parameters ?? []).filter((parameter: { in: string }) => parameter.in === 'path');
      const names = inPath.map((parameter: { name: string }) => `{${parameter.name}}`);
      expect([name, names]).toEqual([name, name.match(/\{\w+\}/g) ?? []]);
    }
  });

  test('refers only to what it defines', () => {
    const defined = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    const used = referencesIn(document);
    expect(used.length).toBeGreaterThan(30);
    expect(used.filter((ref) => !defined.includes(ref))).toEqual([]);
  });

  test.each(
    Object.entries({
      Dataset,
      EvalCase,
      HarnessSpec,
      RunRequest,
      RunView,
      RuntimeSpec,
      ScorecardRequest,
      ScorecardView,
    }),
  )('describes %s as the schema it is validated by', (name, schema: z.ZodType) => {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    const described = inlined(document.components.schemas[name], document.components.schemas);
    expect(described).toEqual(inlined(own, $defs));
  });

  test('gives every refusal the shape of a problem and names its codes', () => {
    const { responses } = document.paths['/scorecards'].post;
    const statuses = [202, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 501, 503];
    expect(
      Object.keys(responses)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(statuses);
    expect(responses['400'].description).toContain('`DEMAND_EXCEEDS_ENVELOPE`');
    expect(responses['404'].content['application/problem+json'].schema).toEqual({
      $ref: '#/components/schemas/Problem',
    });
    expect(document.paths['/datasets'].post.requestBody.content).toHaveProperty(['application/x-ndjson']);
  });

  test('has examples that work as they stand', async () => {
    const post = async (path: string) => {
      const { example } = document.paths[path].post.requestBody.content['application/json'];
      return (await api.send('POST', path, example)).status;
    };
    const statuses = [];
    for (const path of ['/runtimes', '/harnesses', '/datasets', '/scorecards', '/runs'])
      statuses.push(await post(path));
    expect(statuses).toEqual([201, 201, 201, 202, 202]);
  });
});

describe('/docs', () => {
  test('is a page whose every part this server has', async () => {
    const { status, headers, body } = await api.send('GET', '/docs');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const parts = [...String(body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    expect(parts).toContain('/docs/swagger-ui-bundle.js');
    for (const path of parts) {
      expect(path).toMatch(/^\//);
      expect([path, (await api.send('GET', path)).status]).toEqual([path, 200]);
    }
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test.each(['package.json', '..%2fpackage.json', '__proto__', 'constructor'])('does not serve %s', async (file) => {
    expect((await api.send('GET', `/docs/${file}`)).status).toBe(404);
  });
});
