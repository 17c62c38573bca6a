import fc from 'fast-check';
import { type OpenRun, packPartition, unpackPartition } from './partition.js';

const SCORECARD = 'sc_01j9z3k4x5y6w7v8t9s0r1q2p3';

const aRun = (ordinal: number, parts: Partial<OpenRun> = {}): OpenRun => ({
  runId: `${SCORECARD}.${ordinal}`,
  caseId: `case-${ordinal}`,
  poolId: 'rt:default:here',
  kind: 'local',
  class: 'batch',
  demand: {},
  infraRetries: 2,
  attempt: 1,
  isCancelRequested: false,
  ...parts,
});

test('what is packed comes back the same', () => {
  const run = fc.record({
    poolId: fc.constantFrom('rt:default:a', 'rt:default:b'),
    demand: fc.constantFrom({}, { memoryMb: 5 }, { memoryMb: 5, cpuMillicores: 7 }, { cpuMillicores: 7 }),
    attempt: fc.integer({ min: 1, max: 9 }),
    askedAt: fc.option(fc.integer({ min: 1, max: 2 ** 42 }), { nil: undefined }),
    openSeq: fc.option(fc.integer({ min: 1, max: 2 ** 50 }), { nil: undefined }),
    isCancelRequested: fc.boolean(),
    isPromoted: fc.option(fc.constant(true as const), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(run, { maxLength: 20 }), (parts) => {
      const runs = parts.map((part, i) => aRun(i, part));
      const packed = JSON.parse(JSON.stringify(packPartition(runs, 60)));
      expect(unpackPartition(SCORECARD, packed)).toEqual(runs.map((one) => JSON.parse(JSON.stringify(one))));
      expect(packed.queueDeadlineSec).toBe(60);
    }),
  );
});

test('500 runs that all differ stay below 40 KB', () => {
  const runs = Array.from({ length: 500 }, (_, i) =>
    aRun(99_500 + i, {
      ...{ caseId: `${i} ${'é'.repeat(500)}`, attempt: 3, openSeq: 12e9 + i, isCancelRequested: i % 2 === 0 },
      askedAt: 1_764_000_000_000 + i * 1_000_000,
      demand: i < 5 ? { memoryMb: i } : {},
    }),
  );
  expect(Buffer.byteLength(JSON.stringify(packPartition(runs, 86_400)))).toBeLessThan(40_000);
});

test.each([
  ['a short id stays whole', 'HumanEval/12', 'HumanEval/12'],
  ['a long id is cut', 'x'.repeat(60), `${'x'.repeat(32)}…`],
  ['a character is never cut in half', '😀'.repeat(20), `${'😀'.repeat(8)}…`],
])('%s', (_title, caseId, shown) => {
  const [run] = unpackPartition(SCORECARD, packPartition([aRun(0, { caseId })], 60));
  expect(run?.caseId).toBe(shown);
});
