import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { WITHOUT_TOOL } from '../../../api/mcp/exceptions.js';
import { KeyStore } from '../../../store/key.store.js';
import { WorkspaceStore } from '../../../store/workspace.store.js';
import { type AccessWorld, ROUTES, type RouteLine } from './access-table.js';
import { accessWorld, keyOf } from './access-world.js';
import { inspect } from './inspector.js';
import { headersOf, mcpClient } from './mcp-client.js';
import { type Api, type Reply, startApi } from './server.js';

type Json = Reply['body'];

const OPERATOR = 'operator-key-0123456789-0123456789';
/** Who may do everything, and who may too little for a permission. */
const ACTORS = {
  admin: { key: keyOf('admin', 'admin') },
  member: { key: keyOf('member', 'admin') },
  viewer: { key: keyOf('viewer', 'admin') },
  reader: { key: keyOf('viewer', 'read') },
  operator: { key: OPERATOR, workspace: 'team-a' },
};
type Actor = keyof typeof ACTORS;
const TOO_LITTLE: Readonly<Record<string, Actor>> = {
  register: 'reader',
  run: 'viewer',
  stop: 'viewer',
  curate: 'viewer',
  administer: 'member',
  operate: 'admin',
};

let api: Api;
let world: AccessWorld;
let document: Json;
let tools: readonly Tool[];
const clients = new Map<Actor, Client>();

beforeAll(async () => {
  api = await startApi({
    env: {
      EVERDICT_OPERATOR_KEY: OPERATOR,
      EVERDICT_REQUESTS_PER_SEC: '0',
      EVERDICT_SECRETS_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });
  const { dataSource } = api.database;
  await new WorkspaceStore(dataSource).create('team-a');
  const keys = new KeyStore(dataSource);
  for (const role of ['viewer', 'member', 'admin'] as const) {
    for (const scope of ['read', 'admin'] as const) {
      await keys.create('team-a', { name: 'of a test', role, scope, createdBy: 'operator' }, keyOf(role, scope));
    }
  }
  world = await accessWorld(api);
  document = (await api.send('GET', '/openapi.json')).body;
  for (const actor of Object.keys(ACTORS) as Actor[]) {
    const client = await mcpClient(api.url, ACTORS[actor]);
    ({ tools } = await client.listTools());
    clients.set(actor, client);
  }
}, 60_000);
afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await api.close();
});

interface Operation {
  /** `get /runs/{id}` */
  name: string;
  path: string;
  method: string;
  operation: Json;
}

const operations = (): Operation[] =>
  Object.entries<Record<string, Json>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, method, operation })),
  );

/** Every tool with the route it stands for. */
const pairs = (): { tool: Tool; route: Operation }[] =>
  operations().flatMap((route) => {
    const tool = tools.find(({ _meta }) => _meta?.['everdict/route'] === route.name);
    return tool ? [{ tool, route }] : [];
  });

test('every route is a tool with the permission of the route, or an exception with its reason', () => {
  const offered = tools.map(({ _meta }) => `${_meta?.['everdict/route']}: ${_meta?.['everdict/permission']}`);
  const routes = operations().filter(({ name }) => !Object.hasOwn(WITHOUT_TOOL, name));
  expect(offered.sort()).toEqual(
    routes.map(({ name, operation }) => `${name}: ${operation['x-everdict-permission']}`).sort(),
  );
  const known = operations().map(({ name }) => name);
  expect(Object.keys(WITHOUT_TOOL).filter((name) => !known.includes(name))).toEqual([]);
});

/** The schema with its references replaced, and without what says nothing of values. */
function plain(schema: Json, root: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => plain(item, root));
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1);
    if (name === 'JsonValue' || name.startsWith('__schema')) return 'any JSON';
    return plain((root.$defs ?? root.components.schemas)[name], root);
  }
  if (Array.isArray(schema.type)) {
    const { type, ...rest } = schema;
    return plain({ anyOf: type.map((each: string) => ({ ...(each === 'null' ? {} : rest), type: each })) }, root);
  }
  const members = Object.entries(schema).filter(
    ([key, value]) =>
      key !== '$defs' && !(key === 'description' && typeof value === 'string') && value !== 'starts_with',
  );
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member, root)]));
}

/** Places in which a tool's schema is another than its route's. A text of others is shown as such, whatever it was. */
function differences(tool: Json, route: Json, at: string): string[] {
  const isShown = (schema: Json) => schema?.properties?.untrusted !== undefined;
  if (isShown(tool) || (tool?.anyOf?.length === 2 && isShown(tool.anyOf[0]) && tool.anyOf[1].type === 'null'))
    return [];
  const isTree = (value: Json) => typeof value === 'object' && value !== null;
  if (!isTree(tool) || !isTree(route)) return tool === route ? [] : [`${at}: ${JSON.stringify([tool, route])}`];
  const keys = new Set([...Object.keys(tool), ...Object.keys(route)]);
  return [...keys].flatMap((key) => differences(tool[key], route[key], `${at}/${key}`));
}

/** What an answer is told as an object only, with the members that only it has: there it is long, and in many tools. */
const ONLY_OBJECTS: Readonly<Record<string, string>> = {
  wouldDecide: 'evidence of a gate',
  minCoverage: 'rules of a gate',
  datasetHash: 'a scorecard that is compared',
  pValue: 'the paired test',
  decidedAgain: 'one of the rerolls',
  baselineTotal: 'a difference of a number',
};
const NOT_SAID = [
  ...['default', 'format', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'propertyNames'],
];

/** The answer of a route as a tool tells it: its shape, and of an object of several kinds what all kinds have. */
function shapeOf(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(shapeOf);
  const { oneOf, anyOf = oneOf, properties } = schema;
  const names = Object.keys(properties ?? {});
  // A registered policy is what its own tools are about.
  if (!names.includes('version') && names.some((name) => Object.hasOwn(ONLY_OBJECTS, name))) return { type: 'object' };
  const kinds = anyOf?.map(shapeOf);
  if (kinds?.length > 1 && kinds.every(({ type }: Json) => type === 'object')) return sharedBy(kinds);
  const said = Object.entries(schema).filter(
    ([key, value]) =>
      !(NOT_SAID.includes(key) && (typeof value !== 'object' || key !== 'default')) &&
      !(key === 'additionalProperties' && value === false),
  );
  return Object.fromEntries(
    said.map(([key, value]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(Object.entries(value as Json).map(([name, member]) => [name, shapeOf(member)]))
        : shapeOf(value),
    ]),
  );
}

function sharedBy(kinds: readonly Json[]): Json {
  const every = (has: (kind: Json) => boolean) => kinds.every(has);
  const names = Object.keys(kinds[0].properties).filter((name) =>
    every((kind) => Object.hasOwn(kind.properties, name)),
  );
  const same = (name: string) => new Set(kinds.map((kind) => JSON.stringify(kind.properties[name]))).size === 1;
  const required = kinds[0].required?.filter((name: string) => every((kind) => kind.required?.includes(name)));
  const properties = names.map((name) => [name, same(name) ? kinds[0].properties[name] : {}]);
  return { type: 'object', properties: Object.fromEntries(properties), ...(required?.length > 0 && { required }) };
}

const OF_THE_TOOL = ['includeContent', 'contentLimit', 'confirm', 'part', 'maxBytes', 'idempotencyKey', 'checkToken'];
/** Parameters that are no argument, for a reason of the route's. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = { get_run_logs: ['follow', 'from'] };

test('a tool takes what its route takes, and answers what its route answers', () => {
  const wrong = pairs().flatMap(({ tool, route: { operation } }): string[] => {
    const input = plain(tool.inputSchema, tool.inputSchema);
    const own = Object.keys(input.properties).filter((name) => !OF_THE_TOOL.includes(name));
    const body = plain(operation.requestBody?.content['application/json'].schema, document);
    const isWhole = body !== undefined && input.properties.spec !== undefined;
    const parameters = (operation.parameters ?? []).filter(
      ({ in: where, name }: Json) =>
        ['path', 'query'].includes(where) && !(isWhole && where === 'query') && !LEFT_OUT[tool.name]?.includes(name),
    );
    const expected = Object.fromEntries([
      ...parameters.map(({ name, schema }: Json) => [name, plain(schema, document)]),
      ...(isWhole ? [['spec', body]] : Object.entries(body?.properties ?? {})),
    ]);
    const required = [
      ...parameters.filter((each: Json) => each.required && each.name !== 'version').map(({ name }: Json) => name),
      ...(isWhole ? ['spec'] : (body?.required ?? [])),
    ];
    const mine = (input.required ?? []).filter((name: string) => name !== 'confirm' && name !== 'version');
    const output = tool.outputSchema && plain(tool.outputSchema, tool.outputSchema);
    const answer = Object.entries<Json>(operation.responses).find(([status]) => status < '300')?.[1];
    const schema = answer.content['application/json']?.schema;
    return [
      ...own.flatMap((name) => withoutDefault(input.properties[name], expected[name], `${tool.name}/${name}`)),
      ...differences(sorted(own), sorted(Object.keys(expected)), `${tool.name} arguments`),
      ...differences(sorted(mine), sorted(required), `${tool.name} required`),
      ...(schema
        ? differences({ ...output }, shapeOf({ type: 'object', ...plain(schema, document) }), `${tool.name} answer`)
        : []),
    ];
  });
  expect(wrong).toEqual([]);
});

const sorted = (names: readonly string[]): string[] => [...names].sort((one, other) => (one < other ? -1 : 1));

/** Where the highest version is meant unless one is said. */
function withoutDefault(tool: Json, route: Json, at: string): string[] {
  const { default: _, ...rest } = tool;
  return differences(at.endsWith('/version') ? rest : tool, route, at);
}

test('the list of all tools fits into what an agent reads', () => {
  expect(JSON.stringify(tools).length).toBeLessThan(250_000);
});

const VOLATILE: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, 'T'],
  [/\b(sc|run|aud|gate|gt)_[0-9a-z]{26}/g, '$1_'],
  [/"[0-9a-hjkmnp-tv-z]{12}"/g, '"id"'],
  [/(person|agent)-\d+/g, '$1'],
  [/\/secrets\/s\d+|\bs\d+\b/g, 's'],
  [/"(latencyMs|ageMs|etaP50|etaP90|position|ahead|tookMs)":[\d.]+/g, '"$1":0'],
  [/"(checkToken|next)":"[^"]+"/g, '"$1":"…"'],
];

/** The same for the same question, whenever it is asked. */
const timeless = (value: unknown): Json =>
  value === undefined
    ? value
    : JSON.parse(VOLATILE.reduce((text, [from, to]) => text.replace(from, to), JSON.stringify(value)));

/** The answer as the route gives it: texts of others in their place. */
function bare(value: Json, like: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (value.untrusted) return typeof like === 'string' ? value.untrusted.text : JSON.parse(value.untrusted.text);
  if (Array.isArray(value)) return value.map((item, at) => bare(item, like?.[at]));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bare(item, like?.[key])]));
}

/** What tools put into names of tools that stand in other texts. */
const BREAK = '·';

interface Call {
  path: string;
  body?: unknown;
}

/** The arguments of a tool that come to a call of its route. */
function argumentsOf(tool: Tool, template: string, { path, body }: Call): Record<string, unknown> {
  const [route = '', search = ''] = path.split('?');
  const names = template.split('/');
  const params = route.split('/').flatMap((segment, at) => {
    const name = /^\{(\w+)\}$/.exec(names[at] ?? '')?.[1];
    return name ? [[name, decodeURIComponent(segment)] as const] : [];
  });
  const properties = tool.inputSchema.properties ?? {};
  const args: Record<string, unknown> = {
    ...Object.fromEntries(params),
    ...Object.fromEntries(new URLSearchParams(search)),
    ...(Object.hasOwn(properties, 'spec') ? { spec: body } : (body as object)),
    ...(Object.hasOwn(properties, 'includeContent') && { includeContent: true }),
    ...(Object.hasOwn(properties, 'contentLimit') && { contentLimit: 32_000 }),
  };
  const confirmed = /type `(\w+)` again/.exec(tool.description ?? '')?.[1];
  return confirmed ? { ...args, confirm: args[confirmed] } : args;
}

const lineOf = ({ method, path }: Operation): RouteLine => {
  const line = ROUTES[`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`];
  if (!line) throw new Error(`${method} ${path} is not in access-table.ts`);
  return line;
};

async function targetOf(route: Operation): Promise<string> {
  const { path = route.path } = lineOf(route);
  return typeof path === 'string' ? path : path(world);
}

/** Text stays text, also where it is lines of JSON. */
async function send(method: string, { path, body }: Call, headers: Record<string, string>) {
  const hasBody = body !== undefined && method !== 'GET';
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, body: (isJson ? JSON.parse(text) : text) as Json };
}

/** What both say to the same call. */
async function both(tool: Tool, route: Operation, actor: Actor, calls: { http: Call; mcp: Call }) {
  const { http, mcp } = calls;
  const reply = await send(route.method.toUpperCase(), http, headersOf(ACTORS[actor]));
  const client = clients.get(actor);
  if (!client) throw new Error(`nobody is ${actor}`);
  const result = (await client.callTool({
    name: tool.name,
    arguments: argumentsOf(tool, route.path, mcp),
  })) as CallToolResult;
  const [content] = result.content;
  const said = content?.type === 'text' ? content.text : '';
  return { reply, result, refusal: result.isError ? JSON.parse(said.replaceAll(BREAK, '')) : undefined };
}

test('both answer the same to the same call', async () => {
  const wrong: unknown[] = [];
  for (const { tool, route } of pairs()) {
    const { body, permission } = lineOf(route);
    const actor = permission === 'operate' ? 'operator' : 'admin';
    const calls = { http: { path: await targetOf(route), body }, mcp: { path: await targetOf(route), body } };
    const { reply, result, refusal } = await both(tool, route, actor, calls);
    const seen = result.structuredContent as Json;
    const text = seen?.text?.untrusted?.text;
    const answer = refusal
      ? { code: refusal.code, detail: bare(refusal.detail, '') }
      : (text ?? bare(seen, reply.body));
    const { code, detail } = reply.body ?? {};
    const expected = reply.status >= 400 ? { code, detail } : (reply.body ?? undefined);
    if (reply.status === 204) continue;
    if (JSON.stringify(timeless(answer)) !== JSON.stringify(timeless(expected)))
      wrong.push([tool.name, timeless(answer), timeless(expected)]);
  }
  expect(wrong).toEqual([]);
}, 60_000);

test('both refuse a caller who may too little, in the same words', async () => {
  const wrong: unknown[] = [];
  for (const { tool, route } of pairs()) {
    const { permission, body } = lineOf(route);
    const actor = TOO_LITTLE[permission];
    if (!actor) continue;
    const call = { path: await targetOf(route), body };
    const { reply, refusal } = await both(tool, route, actor, { http: call, mcp: call });
    const { code, detail } = reply.body;
    if (code !== 'FORBIDDEN' || refusal?.code !== code || refusal.detail !== detail)
      wrong.push([tool.name, reply.body, refusal]);
  }
  expect(wrong).toEqual([]);
});

test('both refuse what is not there, and name the next call', async () => {
  const wrong: unknown[] = [];
  for (const { tool, route } of pairs().filter(({ route: { path } }) => path.includes('{'))) {
    const { permission, body } = lineOf(route);
    const path = route.path.replace(/\{version\}/g, '9.9.9').replace(/\{\w+\}/g, 'zz-unknown');
    const actor = permission === 'operate' ? 'operator' : 'admin';
    const { reply, refusal } = await both(tool, route, actor, { http: { path, body }, mcp: { path, body } });
    const { code, detail } = reply.body;
    const isSame = refusal?.code === code && refusal.detail === detail && reply.status >= 400;
    if (!isSame || refusal.next.length === 0) wrong.push([tool.name, reply.body, refusal]);
  }
  expect(wrong).toEqual([]);
});

test('both refuse a field that is at fault, at its place', async () => {
  const wrong: unknown[] = [];
  for (const { tool, route } of pairs()) {
    const { permission, body } = lineOf(route);
    const actor = permission === 'operate' ? 'operator' : 'admin';
    const target = await targetOf(route);
    const isQuery = Object.hasOwn(tool.inputSchema.properties ?? {}, 'limit') && route.method === 'get';
    if (!isQuery && (body === undefined || tool.name === 'validate_runtime')) continue;
    const call = isQuery
      ? { path: `${target}${target.includes('?') ? '&' : '?'}limit=many` }
      : { path: target, body: { ...(body as object), zzz: 1 } };
    const { reply, refusal } = await both(tool, route, actor, { http: call, mcp: call });
    const isBoth = reply.status === 400 && refusal?.code === reply.body.code && refusal.errors.length > 0;
    if (!isBoth) wrong.push([tool.name, reply.body, refusal]);
  }
  expect(wrong).toEqual([]);
});

test('the official MCP Inspector lists every tool and calls each', async () => {
  const as = (actor: Actor) =>
    Object.entries(headersOf(ACTORS[actor])).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const at = (tools: string) => [`${api.url}/mcp?tools=${tools}`, '--transport', 'http'];
  const calls = await Promise.all(
    pairs().map(async ({ tool, route }) => {
      const { body, permission, ok } = lineOf(route);
      const args = Object.entries(argumentsOf(tool, route.path, { path: await targetOf(route), body }));
      const given = args.flatMap(([name, value]) => ['--tool-arg', `${name}=${JSON.stringify(value)}`]);
      const actor = permission === 'operate' ? 'operator' : 'admin';
      const command = [...at(tool.name), ...as(actor), '--method', 'tools/call', '--tool-name', tool.name, ...given];
      return { name: tool.name, command, isRefused: [ok].flat().every((status) => status >= 400) };
    }),
  );
  const [list, ...answers] = await inspect([
    [...at('all'), ...as('admin'), '--method', 'tools/list'],
    ...calls.map(({ command }) => command),
  ]);
  expect(JSON.parse(list?.said ?? '').tools.map(({ name }: Tool) => name)).toEqual(tools.map(({ name }) => name));
  const wrong = calls.flatMap(({ name, isRefused }, at) => {
    const { code, said = '' } = answers[at] ?? {};
    const { isError = false, content } = code === 0 ? JSON.parse(said) : {};
    return isError === isRefused && content?.length > 0 ? [] : [[name, code, said]];
  });
  expect(wrong).toEqual([]);
}, 60_000);
