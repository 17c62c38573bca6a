import type { JobNote } from './job-ledger.js';
import { type Era, ledgerFaults } from './ledger-checker.js';

/** Two slots and 1,000 MB from the start; one slot and 500 MB for leases after number 3; then three slots. */
const ERAS: Era[] = [
  { pool: 'lean', at: 0, afterSeq: 0, slots: 2, memoryMb: 1_000 },
  { pool: 'wide', at: 0, afterSeq: 0, slots: 9 },
  { pool: 'lean', at: 10, afterSeq: 3, slots: 1, memoryMb: 500 },
  { pool: 'lean', at: 20, afterSeq: 6, slots: 3 },
];

/** `<time> <start|end> <run> [attempt] [MB] [pool]`; lease numbers follow the order of first mention. */
function faultsOf(lines: string[], seqs: Record<string, number> = {}): string[] {
  const notes = lines.map((line): JobNote => {
    const [at, what, runId = '', attempt = '1', memoryMb = '0', pool = 'lean'] = line.split(' ');
    if (what !== 'start' && what !== 'end') throw new Error(`not a note: ${line}`);
    return { what, runId, attempt: Number(attempt), at: Number(at), memoryMb: Number(memoryMb), workspace: 'w', pool };
  });
  const names = [...new Set(notes.map(({ runId, attempt }) => `${runId} ${attempt}`))];
  const numbered = names.map((name, index): [string, number] => [name, seqs[name] ?? index + 1]);
  return ledgerFaults({ notes, eras: ERAS, quotas: { w: 4 }, seqs: new Map(numbered.filter(([, seq]) => seq > 0)) });
}

test.each<[string, string[], Record<string, number>?]>([
  ['jobs that follow each other', ['1 start a', '2 start b', '3 end a', '4 start c', '5 end b', '6 end c']],
  ['memory to the last MB', ['1 start a 1 600', '2 start b 1 400', '3 end a', '3 end b']],
  ['a job without declared memory where all is in use', ['1 start a 1 1000', '2 start b', '3 end a', '3 end b']],
  [
    'what was granted under higher limits and starts late',
    ['1 start a', '15 start b', '16 end a', '17 end b'],
    { 'a 1': 1, 'b 1': 3 },
  ],
  ['use that only falls', ['1 start a', '2 start b', '12 end a', '13 end b', '14 start c', '15 end c'], { 'c 1': 4 }],
  ['a raised limit', ['21 start a', '21 start b', '21 start c', '22 end a', '22 end b', '22 end c'], { 'c 1': 5 }],
  ['the next attempt of a run', ['1 start a', '2 end a', '3 start a 2', '4 end a 2']],
  ['a job that was killed, and whose slot is used', ['1 start a', '2 start b', '3 start c', '4 end b', '5 end c']],
])('%s is in order', (_title, lines, seqs = {}) => {
  expect(faultsOf(lines, seqs)).toEqual([]);
});

test.each<[string, string[], Record<string, number>, RegExp]>([
  [
    'a slot too many',
    ['1 start a', '2 start b', '3 start c', '4 end a', '4 end b', '4 end c'],
    {},
    /c 1 is number 3 on 2 slots of lean/,
  ],
  [
    'a MB too many',
    ['1 start a 1 600', '2 start b 1 401', '3 end a', '3 end b'],
    {},
    /with b 1 1001 of 1000 MB of lean/,
  ],
  [
    'a grant above a lowered limit',
    ['1 start a', '12 start b', '13 end a', '13 end b'],
    { 'b 1': 4 },
    /b 1 is number 2 on 1 slots/,
  ],
  ['memory above a lowered limit', ['12 start a 1 501', '13 end a'], { 'a 1': 4 }, /with a 1 501 of 500 MB/],
  [
    'a raised limit used before it was announced',
    ['19 start a', '19 start b', '19 start c', '22 end a', '22 end b', '22 end c'],
    { 'a 1': 4, 'b 1': 5, 'c 1': 6 },
    /c 1 is number 3 on 1 slots/,
  ],
  [
    'more than the quota over two pools',
    [
      ...['a', 'b', 'c', 'd', 'e'].map((run) => `1 start ${run} 1 0 wide`),
      ...['a', 'b', 'c', 'd', 'e'].map((run) => `2 end ${run}`),
    ],
    {},
    /e 1 is number 5 of w, which may run 4/,
  ],
  ['a run twice at once', ['1 start a', '2 start a 2', '3 end a', '3 end a 2'], {}, /a 2 started while a 1 ran/],
  ['an attempt that starts twice', ['1 start a', '2 end a', '3 start a', '4 end a'], {}, /a 1 started twice/],
  ['an attempt that nobody opened', ['1 start a', '2 end a'], { 'a 1': 0 }, /a 1 started, and no row knows of it/],
])('%s is found', (_title, lines, seqs, fault) => {
  expect(faultsOf(lines, seqs)).toContainEqual(expect.stringMatching(fault));
});
