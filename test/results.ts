import fc from 'fast-check';
import type { CaseResult } from '../policy/case-result.js';
import type { Side } from '../policy/comparison/side.js';
import { ratesOf } from '../policy/rates.js';

const NO_COUNTS = { submitted: 0, queued: 0, waiting: 0, running: 0, settled: 0, decided: 0 };

/** What one trial of a case came to: passed, unless told otherwise. */
export const aResult = (caseId: string, parts: Partial<CaseResult> = {}): CaseResult => ({
  runId: `sc_1.${caseId}`,
  caseId,
  trial: 1,
  tags: [],
  outcome: 'passed',
  isDecided: false,
  scores: [],
  usage: {},
  contentHash: `content of ${caseId}`,
  gradersHash: `graders of ${caseId}`,
  ...parts,
});

/** A finished scorecard with these results. */
export function aSide(results: readonly CaseResult[], parts: Partial<Side['scorecard']> = {}): Side {
  const count = (outcome: CaseResult['outcome']): number => results.filter((each) => each.outcome === outcome).length;
  const [passed, failed, errored, cancelled] = [count('passed'), count('failed'), count('errored'), count('cancelled')];
  const infraErrors = results.filter(({ errorClass }) => errorClass === 'infra').length;
  const settled = passed + failed + errored + cancelled;
  return {
    scorecard: {
      ...{ id: 'sc_1', status: 'completed', dataset: 'tasks@1.0.0', datasetHash: 'hash', harness: 'solver@1.0.0' },
      datasetCases: new Set(results.map(({ caseId }) => caseId)).size,
      ...{ runtime: 'desk@1.0.0', trials: 1, createdAt: '2026-01-01T00:00:00.000Z', rerolls: [] },
      counts: { ...NO_COUNTS, submitted: results.length, settled, passed, failed, errored, cancelled, infraErrors },
      rates: ratesOf({ settled, cancelled, passedFirst: passed, passed, infraErrors }),
      ...parts,
    },
    results,
  };
}

const ends = fc.constantFrom<Partial<CaseResult>>(
  { outcome: 'passed' },
  { outcome: 'failed' },
  { outcome: 'errored', errorClass: 'infra', errorCode: 'NODE_LOST' },
  { outcome: 'errored', errorClass: 'agent', errorCode: 'TIMEOUT' },
  { outcome: 'cancelled' },
  { outcome: 'passed', isDecided: true },
);

const amount = fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined });

/** Results of some of 30 cases, `trials` of each. */
export const someResults = (trials = 1): fc.Arbitrary<CaseResult[]> =>
  fc
    .uniqueArray(
      fc.record({
        at: fc.nat(29),
        ends: fc.array(fc.record({ end: ends, tokens: amount }), { minLength: trials, maxLength: trials }),
      }),
      { selector: ({ at }) => at },
    )
    .map((cases) =>
      cases.flatMap(({ at, ends: trialsOf }) =>
        trialsOf.map(({ end, tokens }, i) =>
          aResult(`case-${at}`, { ...end, trial: i + 1, ...(tokens !== undefined && { usage: { tokens } }) }),
        ),
      ),
    );
