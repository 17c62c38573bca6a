import type { Client } from '@modelcontextprotocol/client';
import { WITHOUT_TOOL } from '../../../api/mcp/exceptions.js';
import { mcpClient } from './mcp-client.js';
import { type Api, type Reply, startApi } from './server.js';

let api: Api;
let client: Client;
let document: Reply['body'];
beforeAll(async () => {
  api = await startApi();
  client = await mcpClient(api.url);
  document = (await api.send('GET', '/openapi.json')).body;
}, 60_000);
afterAll(async () => {
  await client.close();
  await api.close();
});

interface Operation {
  name: string;
  permission: string;
}

const operations = (): Operation[] =>
  Object.entries<Record<string, Reply['body']>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      permission: operation['x-everdict-permission'],
    })),
  );

test('every route is a tool with the permission of the route, or an exception with its reason', async () => {
  const { tools } = await client.listTools();
  const routes = tools.map(({ _meta }) => `${_meta?.['everdict/route']}: ${_meta?.['everdict/permission']}`);
  const offered = operations().filter(({ name }) => !Object.hasOwn(WITHOUT_TOOL, name));
  expect(routes.sort()).toEqual(offered.map(({ name, permission }) => `${name}: ${permission}`).sort());
  const known = operations().map(({ name }) => name);
  expect(Object.keys(WITHOUT_TOOL).filter((name) => !known.includes(name))).toEqual([]);
});

test('a tool answers what its route answers', async () => {
  const spec = { kind: 'local', id: 'desk', version: '1.0.0' };
  const made = await client.callTool({ name: 'create_runtime', arguments: { spec } });
  const read = await api.send('GET', '/runtimes/desk/versions/1.0.0');
  expect([made.isError, made.structuredContent]).toEqual([undefined, read.body]);
});
