import type { EndpointReading } from '../backends/session-endpoints.js';
import { SessionWatch, type Watched } from './session-watch.js';

const NOW = 1_700_000_000_000;
const NEVER = new AbortController().signal;

type Answers = Record<string, () => Promise<unknown>>;
const watch = (answers: Answers) =>
  new SessionWatch(
    async (url): Promise<EndpointReading> => ({ at: performance.now(), reply: { body: await answers[url]?.() } }),
    () => NOW,
  );
const pool = (name: string, known?: Watched['known']): Watched => ({
  pool: name,
  endpoint: { poll: name, total: 'total', used: 'used' },
  ...(known && { known }),
});
const says = (total: number, used: number) => async () => ({ total, used });

test('comes back with what is new, and waits for no endpoint that is slow', async () => {
  const silent = () => new Promise(() => undefined);
  const reads = await watch({ a: says(32, 21), b: says(2, 3), silent }).next(
    [pool('a'), pool('b'), pool('silent')],
    60_000,
    NEVER,
  );
  expect(reads).toEqual([
    { pool: 'a', at: expect.any(Number), answer: { total: 32, used: 21 } },
    { pool: 'b', at: expect.any(Number), answer: { failure: expect.stringContaining('above') } },
  ]);
  for (const { at } of reads) expect(Math.abs(at - NOW)).toBeLessThan(1_000);
});

test('asks again until a pool says something else', async () => {
  let asked = 0;
  const changing = async () => {
    asked += 1;
    return { total: 2, used: asked < 2 ? 2 : 1 };
  };
  const reads = await watch({ a: changing }).next([pool('a', { total: 2, used: 2 })], 60_000, NEVER);
  expect(reads).toMatchObject([{ answer: { total: 2, used: 1 } }]);
  expect(asked).toBe(2);
});

test('tells what it read when patience ends, though nothing is new', async () => {
  const reads = await watch({ a: says(2, 2) }).next([pool('a', { total: 2, used: 2 })], 50, NEVER);
  expect(reads).toMatchObject([{ pool: 'a', answer: { total: 2, used: 2 } }]);
});

test('says of a pool that nobody knows the endpoint of that it was looked for, and of the others what they say', async () => {
  const reads = await watch({ a: says(2, 2) }).next([{ pool: 'gone' }, pool('a')], 60_000, NEVER);
  expect(reads).toEqual([
    { pool: 'gone', at: NOW },
    { pool: 'a', at: expect.any(Number), answer: { total: 2, used: 2 } },
  ]);
});

test('ends when it is cancelled', async () => {
  const cancel = new AbortController();
  const watching = watch({ a: says(2, 2) }).next([pool('a', { total: 2, used: 2 })], 60_000, cancel.signal);
  cancel.abort(new Error('nobody waits'));
  await expect(watching).rejects.toThrow('nobody waits');
});
