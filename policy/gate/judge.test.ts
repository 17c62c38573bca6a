import { GateReasonCode, GateRules, GateVerdict } from '../../contracts/gate.js';
import {
  CANCELLED,
  DECIDED,
  type Example,
  FAILED,
  GATE_EXAMPLES,
  INFRA,
  many,
  side,
} from '../../test/gate-examples.js';
import { aResult, aSide } from '../../test/results.js';
import type { CaseResult } from '../case-result.js';
import { type Judgement, judge, repeated } from './judge.js';

type Asked = Pick<Example, 'rules' | 'candidate' | 'baseline' | 'on'>;

const asked = ({ rules, candidate, baseline, on }: Asked): Judgement =>
  judge({ rules: GateRules.parse(rules), candidate, ...(baseline && { baseline }), on: on ?? 'all' });

const STOPPED = {
  verdict: 'block',
  errorRate: 0,
  seen: 3,
  total: 10,
  reason: 'after 3 of 10 cases no rest could change it',
  at: '',
} as const;

describe('the verdict', () => {
  test.each(GATE_EXAMPLES)('when $when is $verdict, by $codes', ({ verdict, codes, ...example }) => {
    const judgement = asked(example);
    expect({ verdict: judgement.verdict, codes: judgement.reasons.map(({ code }) => code) }).toEqual({
      verdict,
      codes,
    });
  });

  test('of a scorecard that it ended early is the one that ended it', () => {
    const judgement = asked({ rules: { minPassRate: 0.5 }, candidate: side(many(3, 10, CANCELLED)) });
    const { verdict, reasons } = repeated(judgement, STOPPED);
    expect([verdict, reasons.map(({ code }) => code)]).toEqual(['block', ['STOPPED_EARLY']]);
    expect(reasons[0]?.message).toMatch(/after 3 of 10 cases.*no rest could change it/);
  });

  test('says without a baseline that the scorecard has only some cases of its dataset', () => {
    const whole = side();
    const part = { ...whole, scorecard: { ...whole.scorecard, datasetCases: 100 } };
    const said = (parts: Pick<Example, 'candidate' | 'baseline'>): string | undefined =>
      asked({ rules: { minPassRate: 1 }, ...parts }).reasons[0]?.message;
    expect(said({ candidate: part })).toContain('its dataset has 100 cases, and no baseline asks for the others');
    expect(said({ candidate: whole })).not.toContain('dataset');
    expect(said({ candidate: part, baseline: part })).not.toContain('dataset');
  });

  test('takes every value, and every reason comes up', () => {
    const codes = GATE_EXAMPLES.flatMap((example) => example.codes);
    expect([...new Set([...codes, 'STOPPED_EARLY'])].sort()).toEqual([...GateReasonCode.options].sort());
    expect([...new Set(GATE_EXAMPLES.map(({ verdict }) => verdict))].sort()).toEqual([...GateVerdict.options].sort());
  });
});

describe('G71', () => {
  const rules = { maxRegressions: 0 };
  test('one case that passed and fails now blocks, and is named', () => {
    const { verdict, reasons, evidence } = asked({ rules, baseline: side(), candidate: side({ 7: FAILED }) });
    expect([verdict, reasons[0]?.cases, evidence.regressions]).toEqual(['block', ['c-7'], ['c-7']]);
    expect(reasons[0]?.message).toContain('"c-7"');
  });

  test('a metric that flips while the case still passes is a pass', () => {
    const score = { grader: 'g', kind: 'numeric', detail: '' };
    const baseline = side({ 2: { scores: [{ ...score, passed: true }] } });
    const candidate = side({ 2: { scores: [{ ...score, passed: false }] } });
    expect(asked({ rules, baseline, candidate }).verdict).toBe('pass');
  });

  test('60 of 100 cases are missing ones, never a pass', () => {
    const sizes = { size: 100 };
    const { verdict, evidence, reasons } = asked({
      rules,
      baseline: side({}, sizes),
      candidate: side(many(60, 100, 'absent'), sizes),
    });
    expect([verdict, reasons[0]?.code]).toEqual(['blocked_missing', 'COVERAGE_BELOW_MINIMUM']);
    expect(evidence).toMatchObject({ expected: 100, covered: 60, missing: 40 });
    expect(reasons[0]).toMatchObject({ rule: 'minCoverage', limit: 1, actual: 0.6, count: 40 });
  });

  test('an incomparable pair is said to be one, and what differs', () => {
    const candidate = side({}, { datasetHash: 'other', dataset: 'tasks@2.0.0' });
    const { verdict, reasons, evidence } = asked({ rules, baseline: side(), candidate });
    expect([verdict, reasons[0]?.code, evidence.test]).toEqual(['not_comparable', 'DATASET_DIFFERS', null]);
    expect(reasons[0]?.message).toMatch(/tasks@1\.0\.0.*tasks@2\.0\.0/);
  });
});

describe('trials', () => {
  const trials = (...ends: Partial<CaseResult>[]) =>
    ends.map((end, at) => aResult('c', { ...end, trial: at + 1, runId: `sc_1.${at}` }));
  test.each<[string, number | undefined, Partial<CaseResult>[], GateVerdict]>([
    ['all pass', undefined, [{}, {}, {}], 'pass'],
    ['all must pass, unless the policy says otherwise', undefined, [{}, {}, FAILED], 'block'],
    ['enough pass', 2, [{}, {}, FAILED], 'pass'],
    ['too few pass', 2, [{}, FAILED, FAILED], 'block'],
    ['the missing one is none of them', 2, [{}, FAILED, CANCELLED], 'blocked_missing'],
    ['the unknown one decides', 2, [{}, FAILED, INFRA], 'inconclusive'],
    ['the unknown one cannot decide', 3, [{}, FAILED, INFRA], 'block'],
    ['enough pass without the unknown one', 2, [{}, {}, INFRA], 'pass'],
    ['there are too few to tell', 5, [{}, {}, {}], 'inconclusive'],
    ['there are too few to tell, but one failed', 4, [{}, {}, FAILED], 'block'],
  ])('%s: %j of %j', (_title, minTrialsPassed, ends, verdict) => {
    const rules = { minPassRate: 1, ...(minTrialsPassed !== undefined && { minTrialsPassed }) };
    expect(asked({ rules, candidate: aSide(trials(...ends), { trials: 3 }) }).verdict).toBe(verdict);
  });
});

describe('what would decide', () => {
  test('names the runs that infrastructure failed, and the call that runs them again', () => {
    const { evidence } = asked({
      rules: { minPassRate: 0.9 },
      candidate: side({ 3: INFRA, 4: INFRA }, { id: 'sc_9' }),
    });
    expect(evidence.wouldDecide).toMatchObject({
      rerun: ['sc_1.c-3', 'sc_1.c-4'],
      rerunCount: 2,
      classes: ['infra'],
      moreTrials: 0,
    });
    expect(evidence.wouldDecide?.message).toBe(
      'run 2 runs again with `everdict scorecard retry sc_9 --class infra` (POST /scorecards/sc_9/retry?class=infra); then gate what comes of it',
    );
  });

  test('names those of the baseline where they decide, and those that were decided by hand', () => {
    const baseline = side({ 1: CANCELLED }, { id: 'sc_8' });
    const candidate = side({ 1: FAILED, 2: DECIDED }, { id: 'sc_9' });
    const { evidence } = asked({ rules: { maxRegressions: 0, minCoverage: 0.5 }, baseline, candidate });
    expect(evidence.wouldDecide).toMatchObject({ rerunCount: 2, classes: ['cancelled'] });
    expect(evidence.wouldDecide?.message).toMatch(/submit sc_9 anew.*by hand; run 1 run again.*sc_8 --class cancelled/);
  });

  test('says how many more trials it takes', () => {
    const { evidence } = asked({ rules: { minPassRate: 1, minTrialsPassed: 3 }, candidate: side() });
    expect(evidence.wouldDecide).toMatchObject({ rerun: [], moreTrials: 2 });
    expect(evidence.wouldDecide?.message).toContain('`trials`: 3');
  });

  test('is said of nothing else', () => {
    expect(asked({ rules: { minPassRate: 1 }, candidate: side({ 0: FAILED, 1: INFRA }) }).evidence.wouldDecide).toBe(
      null,
    );
  });
});
