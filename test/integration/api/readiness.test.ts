import { eventually, TestPlatform } from '../../temporal.js';
import { type Api, startApi } from './server.js';

let platform: TestPlatform;
let api: Api;
beforeAll(async () => {
  platform = await TestPlatform.open();
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = platform.env;
  api = await startApi({ temporal: TEMPORAL_ADDRESS, env: { TEMPORAL_NAMESPACE } });
}, 120_000);
afterAll(async () => {
  await api.close();
  await platform.close();
});

const checks = async () => {
  const { status, body } = await api.send('GET', '/readyz');
  expect(status).toBe(200);
  return Object.fromEntries(body.checks.map((each: { name: string; status: string }) => [each.name, each.status]));
};

test('without a worker the API is ready, and says that what is submitted waits', async () => {
  expect(await checks()).toEqual({
    postgres: 'ok',
    migrations: 'ok',
    temporal: 'ok',
    workers: 'none serves control, cases: what is submitted waits for one',
  });
});

test('why something is not as it should be is told to this machine only', async () => {
  const { body } = await api.send('GET', '/readyz', undefined, { 'x-forwarded-for': '203.0.113.9' });
  expect(body.checks).toContainEqual({ name: 'workers', status: 'failed' });
  expect(JSON.stringify(body)).not.toContain('waits for one');
});

test('a worker is seen as soon as it asks for work', async () => {
  await platform.startWorker();
  await eventually('it is seen', async () => (await checks()).workers === 'ok');
});
