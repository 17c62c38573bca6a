import { z } from 'zod';
import { egress, labsAt, REF, recordText, watched } from '../../test/nomad-jobs.js';
import { anAllocation, ScriptedNomad, text } from '../../test/scripted-nomad.js';
import { AnsweredClock } from '../answered-clock.js';
import { NomadBudget } from './nomad.budget.js';
import { NomadClient } from './nomad.client.js';

let nomad: ScriptedNomad;
const { labs, lab } = labsAt(() => nomad.url);
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
});
beforeEach(() => {
  nomad.reset();
});
afterAll(() => nomad.stop());

const { signal } = new AbortController();
const Any = z.array(z.unknown());

test('all runtimes of one address share its connections, and end with the last of them', async () => {
  const some = Array.from({ length: 5 }, (_, at) => lab({ id: `r${at}`, namespace: `ns${at}`, connections: 4 }));
  nomad.on('GET /v1/nodes', { body: [] });
  const calls = some.flatMap(({ client }) =>
    Array.from({ length: 20 }, () => client.get('/v1/nodes', Any, { signal })),
  );
  await Promise.all(calls);
  // One of four is for a connection that ends.
  expect([nomad.requests.length, nomad.peak]).toEqual([100, 3]);
  const [kept, ...others] = labs.splice(0);
  await Promise.all(others.map(({ client }) => client.close()));
  await kept?.client.get('/v1/nodes', Any, { signal });
  await kept?.client.close();
  while (nomad.connections > 0) await new Promise(setImmediate);
});

test('requests that wait for a change leave half of the connections to the others', async () => {
  const budget = new NomadBudget(4);
  const waits = Array.from({ length: 4 }, () => budget.tryTakeToWait());
  expect(waits.map((wait) => wait !== undefined)).toEqual([true, true, false, false]);
  const turns = [await budget.take(signal), await budget.take(signal)];
  const order: string[] = [];
  const first = budget.take(signal).then(() => order.push('first'));
  const second = budget.take(signal).then(() => order.push('second'));
  const left = new AbortController();
  const third = budget.take(left.signal);
  left.abort(new Error('gone'));
  await expect(third).rejects.toThrow('gone');
  turns[0]?.();
  turns[0]?.();
  await first;
  expect(order).toEqual(['first']);
  waits[0]?.();
  await second;
});

test('N29 a full house is met with patience: no case fails, and what was open is closed again', async () => {
  const full = text(429, 'Your IP is issuing too many concurrent connections, please rate limit your calls\n');
  nomad.allocations([], [anAllocation()]);
  nomad.on(`GET /v1/job/${REF.name}/allocations`, full, 'rst', { body: [] }, full, 'rst', { body: [anAllocation()] });
  nomad.stdout = recordText();
  const { backend, client } = lab({ connections: 4 });
  const cases = Array.from({ length: 30 }, () => watched({ backend }));
  const ends = await Promise.all(cases);
  expect(new Set(ends.map((events) => events.at(-1)?.kind))).toEqual(new Set(['record']));
  expect(nomad.peak).toBeLessThanOrEqual(5);
  await client.close();
  while (nomad.connections > 0) await new Promise(setImmediate);
}, 20_000);

test('a list is waited for with its index, and anew with a lower one', async () => {
  const { client } = lab();
  const listener = new AnsweredClock();
  const indexes = ['7', '3', '9'];
  nomad.on('GET /v1/nodes', () => ({ body: [], headers: { 'x-nomad-index': indexes.shift() ?? '9' } }));
  const next = async (index?: number) =>
    (await client.next('/v1/nodes', Any, { index, waitSec: 5, pauseMs: 40, listener, signal })).index;
  expect([await next(), await next(7), await next(0)]).toEqual([7, 0, 9]);
  expect(nomad.requests.map(({ query }) => query.toString())).toEqual(['', 'index=7&wait=5s', '']);
});

test('a clock stands still while nothing is answered', () => {
  let now = 0;
  const clock = new AnsweredClock(() => now);
  const tries = { 5: true, 15: true, 500: false, 900: true, 905: true };
  for (const [ms, isAnswered] of Object.entries(tries)) {
    now = Number(ms);
    if (isAnswered) clock.answered();
    else clock.failed();
  }
  expect(clock.ms).toBe(15);
});

test('what cannot pass is asked for once', async () => {
  const { client } = lab();
  nomad.on('GET /v1/nodes', text(403, 'Permission denied'));
  await expect(client.read('/v1/nodes', Any, { signal })).rejects.toMatchObject({ reason: 'auth' });
  expect(nomad.requests.length).toBe(1);
});

test('a redirect takes no token with it', async () => {
  const other = (await ScriptedNomad.start()).reset();
  nomad.on('GET /v1/nodes', { status: 307, body: '', headers: { location: `${other.url}/v1/nodes` } });
  const client = new NomadClient({ addr: nomad.url }, { token: 'secret', egress, connections: 2 });
  await expect(client.get('/v1/nodes', Any, { signal })).rejects.toMatchObject({ reason: 'error' });
  expect([nomad.requests[0]?.token, other.requests]).toEqual(['secret', []]);
  await Promise.all([client.close(), other.stop()]);
});
