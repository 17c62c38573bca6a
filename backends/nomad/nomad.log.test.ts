import fc from 'fast-check';
import type { Fault } from '../../dev/fake-http/fake-faults.js';
import { LISTING, LOGS, LogLab } from '../../test/nomad-log-lab.js';
import type { LogRead, NomadLogTail } from './nomad.log.js';

let lab: LogLab;
beforeAll(async () => {
  lab = await LogLab.start();
});
beforeEach(() => lab.clear());
afterAll(() => lab.stop());

const { signal } = new AbortController();

/** What was read, by its offset: what goes on joins what was before, and a gap begins anew. */
type Found = [number, string][];

function add(found: Found, at: number, bytes: Uint8Array): void {
  const text = Buffer.from(bytes).toString('latin1');
  const last = found.at(-1);
  if (last && last[0] + last[1].length === at) last[1] += text;
  else found.push([at, text]);
}

/** Reads until there is nothing new. */
async function readAll(tail: NomadLogTail, found: Found = []): Promise<Found> {
  for (;;) {
    const read = await tail.next(signal);
    if (read.kind !== 'bytes') throw new Error(JSON.stringify(read));
    if (read.bytes.length === 0) return found;
    add(found, read.at, read.bytes);
  }
}

test('what a job prints is read on from where reading was, and once', async () => {
  const tail = lab.tail();
  expect(await readAll(tail)).toEqual([]);
  lab.write(0, 'one\n');
  const found = await readAll(tail);
  lab.write(0, 'two\n');
  lab.write(1, 'three\n');
  expect(await readAll(tail, found)).toEqual([[0, 'one\ntwo\nthree\n']]);
  expect([await tail.verify(signal), tail.isHeadCut, tail.seen]).toEqual(['whole', false, 14]);
});

test('bytes of any kind arrive as they are', async () => {
  const bytes = Uint8Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256);
  lab.write(0, bytes);
  expect(await readAll(lab.tail())).toEqual([[0, Buffer.from(bytes).toString('latin1')]]);
});

test.each([true, false])('a worker that takes over goes on at its offset (may list files: %s)', async (mayRead) => {
  lab.mayReadFiles = mayRead;
  for (const index of [0, 1, 2]) lab.write(index, `${index}`.repeat(500 + index));
  const tail = lab.tail(700);
  expect(await readAll(tail)).toEqual([[700, '1'.repeat(301) + '2'.repeat(502)]]);
  lab.write(2, 'on');
  expect(await readAll(tail)).toEqual([[1_503, 'on']]);
});

test.each([true, false])(
  'N09 files that go between reads cut nothing that was read, and shift nothing (may list files: %s)',
  async (mayRead) => {
    lab.mayReadFiles = mayRead;
    for (const index of [0, 1, 2]) lab.write(index, `${index}`.repeat(900));
    const tail = lab.tail();
    const found = await readAll(tail);
    lab.drop(0);
    lab.write(2, '+');
    lab.write(3, 'x');
    expect(await readAll(tail, found)).toEqual([[0, `${'0'.repeat(900)}${'1'.repeat(900)}${'2'.repeat(900)}+x`]]);
    expect(tail.isHeadCut).toBe(false);
    for (const index of [1, 2, 3]) lab.drop(index);
    lab.write(6, 'far on');
    expect((await readAll(tail)).at(-1)).toEqual([2_701 + 3_000, 'far on']);
    expect(tail.isHeadCut).toBe(true);
  },
);

test('N09 a line that two files share is one line, and what was before the oldest shows as a gap', async () => {
  lab.drop(0);
  lab.write(3, '{"score":0.');
  lab.write(4, '91}\n');
  const tail = lab.tail();
  expect(await readAll(tail)).toEqual([[3_000, '{"score":0.91}\n']]);
  expect([tail.isHeadCut, await tail.verify(signal)]).toEqual([true, 'whole']);
});

const FLAWS: [string, Fault[]][] = [
  ['is cut', ['truncated', 'truncated']],
  ['ends early without a sign', ['short', 'short', 'short', 'short']],
  [
    'ends in an error',
    [{ status: 200, body: '{}failed to stream "/x": EOF', headers: { 'content-type': 'application/json' } }],
  ],
];
test.each(FLAWS)('an answer that %s adds what is whole in it, and is gone on from there', async (_title, faults) => {
  for (let index = 0; index < 4; index += 1) lab.write(index, `${index}`.repeat(90_000));
  lab.meets(LOGS, ...faults);
  const tail = lab.tail(0, { fileBytes: 100_000 });
  const found: Found = [];
  while (tail.seen < 360_000) {
    const read: LogRead = await tail.next(signal).catch(() => ({ kind: 'unreachable', text: 'cut' }));
    if (read.kind === 'bytes') add(found, read.at, read.bytes);
  }
  expect(found).toEqual([[0, [0, 1, 2, 3].map((index) => `${index}`.repeat(90_000)).join('')]]);
});

test('text in place of frames is taken as it is', async () => {
  const plain = (body: string): Fault => ({ status: 200, body, headers: { 'content-type': 'text/plain' } });
  lab.meets(LOGS, plain('{"Data":"no frame"}\n'), plain('{"Data":"no frame"}\nand on'.slice(-22)));
  expect(await readAll(lab.tail())).toEqual([[0, '{"Data":"no frame"}\nand on']]);
});

test('a server that answers the whole each time is understood, and nothing is told twice', async () => {
  const whole: Fault = {
    status: 200,
    body: 'x'.repeat(30) + '\n'.repeat(30),
    headers: { 'content-type': 'text/plain' },
  };
  lab.faults.add({ path: LOGS, fault: whole });
  lab.faults.add({ path: LISTING, fault: { status: 404, body: 'Invalid method' } });
  const tail = lab.tail();
  expect(await readAll(tail)).toEqual([[0, 'x'.repeat(30) + '\n'.repeat(30)]]);
  expect(await readAll(tail)).toEqual([]);
});

test('of a log that is far longer than is kept, what lies between may be left out', async () => {
  const mb = Buffer.alloc(1_024 * 1_024, 'x');
  for (let index = 0; index < 50; index += 1) lab.write(index, mb);
  lab.write(50, 'the end');
  const tail = lab.tail(0, { fileBytes: mb.length, keep: { head: 1_024, tail: 1_024 } });
  const found = await readAll(tail);
  expect(found.map(([at]) => at)).toEqual([0, 34 * mb.length + 7]);
  expect(found.at(-1)?.[1].endsWith('xthe end')).toBe(true);
  expect([await tail.verify(signal), tail.isHeadCut]).toEqual(['whole', false]);
});

test.each<[string, Fault, object]>([
  [
    'what has not started',
    { status: 404, body: 'task "case" not started yet. No logs available' },
    { kind: 'not-started' },
  ],
  ['what was collected', { status: 404, body: 'Unknown allocation "x"' }, { kind: 'gone' }],
  ['no path to it', { status: 404, body: 'No path to node' }, { kind: 'unreachable' }],
])('%s is told apart', async (_title, fault, expected) => {
  lab.meets(LOGS, fault);
  expect(await lab.tail().next(signal)).toMatchObject(expected);
});

test('what Nomad refuses is thrown, with what is wrong', async () => {
  lab.meets(LOGS, { status: 500, body: 'rpc error: Permission denied' });
  await expect(lab.tail().next(signal)).rejects.toMatchObject({ reason: 'auth' });
});

test.each([true, false])(
  'N09 of a job that prints faster than it is read no file shifts another (may list files: %s)',
  async (mayRead) => {
    lab.mayReadFiles = mayRead;
    const mb = 1_024 * 1_024;
    const files = lab.rotated({ MaxFiles: 3, MaxFileSizeMB: 1 });
    const tail = lab.tail(0, { fileBytes: mb });
    const found: Found = [];
    let printed = '';
    for (let burst = 1; burst <= 12; burst += 1) {
      let text = '';
      for (let line = 0; text.length < burst * 400_000; line += 1) text += `line ${line} of burst ${burst}\n`;
      files.append('stdout', Buffer.from(text));
      printed += text;
      const read = await tail.next(signal);
      if (read.kind === 'bytes') add(found, read.at, read.bytes);
    }
    files.close();
    await readAll(tail, found);
    const expected = found.map(([at, text]) => [at, printed.slice(at, at + text.length)]);
    expect(JSON.stringify(found) === JSON.stringify(expected)).toBe(true);
    expect(found.length).toBeGreaterThan(1);
    expect([tail.seen, tail.isHeadCut]).toEqual([printed.length, true]);
  },
);

const FILE_BYTES = 600;
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ print: fc.oneof(fc.nat(60), fc.nat(900)) }) },
  { weight: 5, arbitrary: fc.constant('read' as const) },
  { weight: 1, arbitrary: fc.constant('take over' as const) },
  { weight: 1, arbitrary: fc.constantFrom<Fault>('short', 'truncated', { status: 404, body: 'No path to node' }) },
);

test.each([true, false])(
  'whatever is printed, dropped and cut between reads, each byte is told once and where it was (may list files: %s)',
  async (mayRead) => {
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      lab.clear();
      lab.mayReadFiles = mayRead;
      let printed = '';
      let tail = lab.tail(0, { fileBytes: FILE_BYTES });
      const found: Found = [];
      const read = async (): Promise<void> => {
        const next = await tail.next(signal).catch(() => undefined);
        if (next?.kind === 'bytes' && next.bytes.length > 0) add(found, next.at, next.bytes);
      };
      for (const next of [...steps, 'read', 'read'] as const) {
        if (next === 'read') await read();
        else if (next === 'take over') tail = lab.tail(tail.seen, { fileBytes: FILE_BYTES });
        else if (typeof next === 'string' || !('print' in next)) lab.meets(LOGS, next);
        else {
          const before = printed.length;
          while (printed.length < before + next.print) printed += `line ${printed.length}\n`;
          for (let at = before; at < printed.length; ) {
            const index = Math.floor(at / FILE_BYTES);
            const end = Math.min(printed.length, (index + 1) * FILE_BYTES);
            lab.write(index, printed.slice(at, end));
            if (index >= 3) lab.drop(index - 3);
            at = end;
          }
        }
      }
      lab.faults.clear();
      await readAll(tail, found);
      for (const [at, text] of found) expect(text).toBe(printed.slice(at, at + text.length));
      for (const [index, [at]] of found.entries()) {
        const [before = 0, text = ''] = found[index - 1] ?? [];
        expect(at).toBeGreaterThanOrEqual(before + text.length);
        // What was missed is whole files, dropped before they were read.
        if (at > before + text.length) expect(at % FILE_BYTES).toBe(0);
      }
      const [last = 0, text = ''] = found.at(-1) ?? [];
      expect(last + text.length).toBe(printed.length);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), run), { numRuns: 30 });
  },
);
