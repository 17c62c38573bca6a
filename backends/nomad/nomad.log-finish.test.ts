import type { Fault } from '../../dev/fake-http/fake-faults.js';
import { LISTING, LOGS, LogLab, STAT } from '../../test/nomad-log-lab.js';
import type { LogEnd, LogPatience } from '../log-reading.js';
import { finishLog } from './nomad.log-finish.js';

let lab: LogLab;
beforeAll(async () => {
  lab = await LogLab.start();
});
beforeEach(() => lab.clear());
afterAll(() => lab.stop());

const FILE_BYTES = 10 * 1_024 * 1_024;
const QUICK: LogPatience = { firstMs: 1, longestMs: 1, tries: 5 };

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index} of a long log\n`).join('');
const RIGHT = numbered(0, 76_000);
const SHORT = numbered(0, 500) + numbered(621, 76_000);
const MIXED = numbered(0, 690) + numbered(700, 76_000) + numbered(690, 700);

const plain = (body: string): Fault => ({ status: 200, body, headers: { 'content-type': 'text/plain' } });
const noPath: Fault = { status: 404, body: 'No path to node' };
const denied: Fault = { status: 403, body: 'Permission denied' };

/** What was told of a log, and what became of it. */
async function finished(patience = QUICK): Promise<{ told: string; end: LogEnd }> {
  const parts = finishLog(lab.tail(0, { fileBytes: FILE_BYTES }), new AbortController().signal, patience);
  let told = '';
  for (;;) {
    const part = await parts.next();
    if (part.done) return { told, end: part.value };
    told += Buffer.from(part.value.bytes).toString('latin1');
  }
}

const asked = (path: string): number => lab.requests.filter((request) => request.path === path).length;

const insteadOf = (end: LogEnd): string | undefined =>
  end.kind === 'complete' && end.instead ? Buffer.concat(end.instead.map(({ bytes }) => bytes)).toString() : undefined;

test('a log that has the size of its files is complete', async () => {
  lab.write(0, 'all of it\n');
  expect(await finished()).toEqual({ told: 'all of it\n', end: { kind: 'complete', isVerified: true } });
});

test.each(['it cannot be listed', 'it can be listed'])(
  'N05 a log that came with lines missing, then in another order, is read until it agrees: %s',
  async (how) => {
    const size: Fault = { status: 200, body: { Size: RIGHT.length } };
    const listing: Fault = { status: 200, body: [{ Name: 'case.stdout.0', Size: RIGHT.length }] };
    lab.faults.add({ path: LISTING, fault: how === 'it can be listed' ? listing : denied });
    lab.faults.add({ path: STAT, fault: size });
    // What is answered is the whole log, whatever is asked for.
    for (const body of [SHORT, SHORT, SHORT, MIXED, MIXED]) lab.meets(LOGS, plain(body));
    lab.faults.add({ path: LOGS, fault: plain(RIGHT) });
    const { told, end } = await finished();
    expect(told.startsWith(SHORT)).toBe(true);
    expect(end).toMatchObject({ kind: 'complete', isVerified: true });
    expect(insteadOf(end) === RIGHT).toBe(true);
  },
);

test('N05 a log that never agrees with its size is short, after a few readings', async () => {
  lab.faults.add({ path: LISTING, fault: { status: 200, body: [{ Name: 'case.stdout.0', Size: RIGHT.length }] } });
  lab.faults.add({ path: LOGS, fault: plain(SHORT) });
  expect((await finished()).end).toEqual({ kind: 'short' });
  expect(asked(LOGS)).toBeLessThan(60);
});

test('N05 where sizes may not be read, a log is complete as far as is known', async () => {
  lab.mayReadFiles = false;
  lab.write(0, 'all of it\n');
  expect(await finished()).toEqual({ told: 'all of it\n', end: { kind: 'complete', isVerified: false } });
});

test('N05 a log that is thrown away before its size is looked at is gone, and not unverified', async () => {
  const noFile: Fault = { status: 404, body: 'open /x: no such file or directory' };
  for (const path of [LISTING, STAT]) lab.faults.add({ path, fault: noFile });
  lab.meets(LOGS, plain('ok'), plain('ok'), { status: 404, body: 'Unknown allocation "A"' });
  expect(await finished()).toMatchObject({ told: 'ok', end: { kind: 'gone' } });
});

test('N05 what tells nothing of a file is asked twice, with its log, and leaves that unverified', async () => {
  for (const path of [LISTING, STAT]) lab.faults.add({ path, fault: { status: 200, body: {} } });
  lab.write(0, 'ok');
  expect(await finished()).toEqual({ told: 'ok', end: { kind: 'complete', isVerified: false } });
  expect(asked(STAT)).toBe(2);
});

test('an answer that ended early without a sign is gone on with', async () => {
  lab.write(0, RIGHT);
  lab.meets(LOGS, 'short', 'short');
  const { told, end } = await finished();
  expect([told === RIGHT, end]).toEqual([true, { kind: 'complete', isVerified: true }]);
});

test('N07 a node without a path is asked again, and its log read', async () => {
  lab.write(0, 'ok');
  lab.meets(LOGS, noPath, noPath);
  expect(await finished()).toEqual({ told: 'ok', end: { kind: 'complete', isVerified: true } });
});

test('N07 a node that stays without a path is out of reach: its log is not lost', async () => {
  lab.faults.add({ path: LOGS, fault: noPath });
  expect((await finished()).end).toMatchObject({ kind: 'unreachable' });
  expect(asked(LOGS)).toBe(QUICK.tries);
});

test.each<[string, Fault]>([
  [
    'by an old client',
    { status: 500, body: 'failed to list entries: open /x/alloc/A/alloc/logs: no such file or directory' },
  ],
  ['by a newer client', { status: 404, body: 'state for allocation A not found on client' }],
  ['by the servers', { status: 404, body: 'Unknown allocation "A"' }],
])('N01 a log that was collected %s is gone, and asked for once', async (_title, fault) => {
  lab.faults.add({ path: LOGS, fault });
  expect((await finished()).end).toMatchObject({ kind: 'gone' });
  expect(asked(LOGS)).toBe(1);
});

test('what was read before a log was collected stays', async () => {
  lab.write(0, 'first');
  const tail = lab.tail();
  const parts = finishLog(tail, new AbortController().signal, QUICK);
  expect((await parts.next()).value).toMatchObject({ at: 0 });
  lab.collect();
  expect(await parts.next()).toMatchObject({ done: true, value: { kind: 'gone' } });
  expect(tail.seen).toBe(5);
});

test('N11 a task that never started has no log, and none that was collected', async () => {
  lab.faults.add({ path: LOGS, fault: { status: 404, body: 'task "case" not started yet. No logs available' } });
  expect((await finished()).end).toEqual({ kind: 'not-started' });
});
