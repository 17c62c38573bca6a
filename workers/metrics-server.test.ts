import { request } from 'node:http';
import { createServer } from 'node:net';
import { DefaultLogger } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { MetricsServer } from './metrics-server.js';
import { FailedTasks } from './sdk-metrics.js';

/** A server on this port, and where it says that it is. */
async function serving(port = 0, read = async () => 'up 1\n') {
  const urls: string[] = [];
  const log = new DefaultLogger('INFO', ({ meta }) => void (meta && 'url' in meta && urls.push(String(meta.url))));
  const server = new MetricsServer({ address: { host: '127.0.0.1', port }, read, log });
  await server.start();
  return { server, urls };
}

const statusOf = (url: string, options: { method?: string; headers?: Record<string, string> } = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end();
  });

test('a worker answers with its metrics, to loopback names only', async () => {
  const { server, urls } = await serving();
  const [url = ''] = urls;
  const response = await fetch(url);
  expect([response.headers.get('content-type'), await response.text()]).toEqual([
    Registry.PROMETHEUS_CONTENT_TYPE,
    'up 1\n',
  ]);
  expect(await statusOf(url, { headers: { host: 'rebound.example' } })).toBe(403);
  expect(await statusOf(url, { method: 'POST' })).toBe(405);
  expect(await statusOf(new URL('/', url).href)).toBe(404);
  server.stop();
});

test('what cannot be read is a 500', async () => {
  const { server, urls } = await serving(0, () => Promise.reject(new Error('no')));
  expect(await statusOf(urls[0] ?? '')).toBe(500);
  server.stop();
});

test('a port that another process has is taken over once it is free', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const address = holder.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { server, urls } = await serving(port);
  expect(urls).toEqual([]);
  await new Promise((resolve) => holder.close(resolve));
  while (urls.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await statusOf(urls[0] ?? '')).toBe(200);
  server.stop();
});

test('failed workflow tasks are counted from 0, over all workflows, and told of when they grow', async () => {
  const registry = new Registry();
  const lines: unknown[] = [];
  const log = new DefaultLogger('WARN', ({ meta }) => lines.push(meta));
  const tasks = new FailedTasks({ read: async () => '' }, log, registry);
  const total = async () => /^everdict_workflow_tasks_failed_total (.*)$/m.exec(await registry.metrics())?.[1];
  expect(await total()).toBe('0');
  const series = 'temporal_workflow_task_execution_failed_total{failure_reason="WorkflowError",workflow_type=';
  tasks.look(`${series}"caseWorkflow"} 2\n${series}"windowWorkflow"} 1\ntemporal_workflow_completed_total{} 9\n`);
  tasks.look(`${series}"caseWorkflow"} 2\n${series}"windowWorkflow"} 3\n`);
  expect(await total()).toBe('5');
  expect(lines).toHaveLength(3);
});
