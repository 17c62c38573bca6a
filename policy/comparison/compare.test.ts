import fc from 'fast-check';
import { aScore } from '../../test/builders.js';
import { aResult, aSide, someResults } from '../../test/results.js';
import type { CaseResult } from '../case-result.js';
import { compare } from './compare.js';
import { incomparable, onIntersection } from './side.js';

const all = { on: 'all', limit: 1_000 } as const;
const infra = { outcome: 'errored', errorClass: 'infra', errorCode: 'NODE_LOST' } as const;
const timeout = { outcome: 'errored', errorClass: 'agent', errorCode: 'TIMEOUT' } as const;
const failed = { outcome: 'failed' } as const;
const decided = { outcome: 'passed', isDecided: true } as const;

describe('the transition of a case', () => {
  test.each<[string, Partial<CaseResult> | undefined, Partial<CaseResult> | undefined]>([
    ['regressed', {}, failed],
    ['fixed', failed, {}],
    ['errored', {}, timeout],
    ['errored', failed, infra],
    ['errored', failed, { outcome: 'cancelled' }],
    ['errored', {}, decided],
    ['recovered', infra, {}],
    ['recovered', timeout, failed],
    ['new', undefined, {}],
    ['missing', failed, undefined],
    ['unchanged', {}, {}],
    ['unchanged', failed, failed],
    ['unchanged', infra, { outcome: 'cancelled' }],
  ])('is %s', (transition, before, after) => {
    const [baseline, candidate] = [before, after].map((parts) => aSide(parts ? [aResult('a', parts)] : []));
    const { counts, changes } = compare(baseline ?? aSide([]), candidate ?? aSide([]), all);
    expect(Object.entries(counts).filter(([, count]) => count > 0)).toEqual([[transition, 1]]);
    expect(changes.map((change) => change.transition)).toEqual(transition === 'unchanged' ? [] : [transition]);
  });
});

describe('the changes', () => {
  const baseline = aSide([
    aResult('fixed', failed),
    aResult('same'),
    aResult('worse'),
    aResult('gone'),
    aResult('lost'),
  ]);
  const candidate = aSide([
    aResult('fixed'),
    aResult('same'),
    aResult('worse', { ...failed, reason: 'no', tags: ['json'], scores: [aScore({ passed: false })] }),
    aResult('lost', infra),
    aResult('more'),
  ]);

  test('come worst first, each with both of its runs', () => {
    const { changes, hasMore } = compare(baseline, candidate, all);
    expect(changes.map(({ key, transition }) => [key, transition])).toEqual([
      ['worse', 'regressed'],
      ['lost', 'errored'],
      ['gone', 'missing'],
      ['more', 'new'],
      ['fixed', 'fixed'],
    ]);
    expect(changes[0]).toMatchObject({
      tags: ['json'],
      baseline: { outcome: 'passed', reason: null },
      candidate: { outcome: 'failed', reason: 'no', scores: [{ grader: 'equals', passed: false }] },
    });
    expect(changes[2]?.candidate).toBeNull();
    expect(hasMore).toBe(false);
  });

  test('are as many as were asked for, and none is counted less', () => {
    const { changes, hasMore, counts } = compare(baseline, candidate, { on: 'all', limit: 2 });
    expect(changes.map(({ key }) => key)).toEqual(['worse', 'lost']);
    expect(hasMore).toBe(true);
    expect(counts).toEqual({ regressed: 1, fixed: 1, errored: 1, recovered: 0, new: 1, missing: 1, unchanged: 1 });
  });

  test('are keyed by trial where there are several', () => {
    const trialsOf = (second: Partial<CaseResult>) => [aResult('a'), aResult('a', { trial: 2, ...second })];
    const twice = { trials: 2 };
    const { changes } = compare(aSide(trialsOf({}), twice), aSide(trialsOf(failed), twice), all);
    expect(changes.map(({ key, trial }) => [key, trial])).toEqual([['a#2', 2]]);
  });
});

describe('the paired test', () => {
  test('counts an error of the agent as not passed, and leaves out what is not known', () => {
    const baseline = aSide(['a', 'b', 'c', 'd', 'e'].map((id) => aResult(id)));
    const ends = [timeout, failed, infra, decided, {}];
    const candidate = aSide(['a', 'b', 'c', 'd', 'e'].map((id, at) => aResult(id, ends[at])));
    expect(compare(baseline, candidate, all).test).toMatchObject({ pairs: 3, regressed: 2, fixed: 0, pValue: 0.5 });
  });

  test('takes a case with several trials once, as passed if all of them passed', () => {
    const trialsOf = (...ends: Partial<CaseResult>[]) => ends.map((end, at) => aResult('a', { ...end, trial: at + 1 }));
    const other = (end: Partial<CaseResult>) => [aResult('b', { trial: 1 }), aResult('b', { ...end, trial: 2 })];
    const baseline = aSide([...trialsOf({}, {}, {}), ...other({})], { trials: 3 });
    const candidate = aSide([...trialsOf({}, failed, failed), ...other(infra)], { trials: 3 });
    expect(compare(baseline, candidate, all).test).toMatchObject({ pairs: 1, regressed: 1, fixed: 0 });
  });

  test('finds nothing between two of the same', () => {
    fc.assert(
      fc.property(someResults(2), (results) => {
        const side = aSide(results, { trials: 2 });
        const { counts, changes, test, usage, graders } = compare(side, side, all);
        expect(changes).toEqual([]);
        expect(counts.unchanged).toBe(results.length);
        expect(test).toMatchObject({ regressed: 0, fixed: 0, pValue: 1 });
        expect(test.difference ?? 0).toBe(0);
        expect(usage.tokens.difference ?? 0).toBe(0);
        expect(graders.every(({ regressed, fixed }) => regressed + fixed === 0)).toBe(true);
      }),
    );
  });

  test('turns around with the sides', () => {
    fc.assert(
      fc.property(someResults(2), someResults(2), (one, other) => {
        const [a, b] = [aSide(one, { trials: 2 }), aSide(other, { trials: 2 })];
        const [there, back] = [compare(a, b, all), compare(b, a, all)];
        const { regressed, fixed, missing, unchanged } = there.counts;
        expect(back.counts).toMatchObject({ fixed: regressed, regressed: fixed, new: missing, unchanged });
        expect(back.counts.recovered).toBe(there.counts.errored);
        expect(back.test).toMatchObject({ regressed: there.test.fixed, fixed: there.test.regressed });
        expect(back.test.pValue).toBe(there.test.pValue);
        expect((back.test.high ?? 0) + (there.test.low ?? 0)).toBeCloseTo(0, 12);
        expect((back.usage.tokens.difference ?? 0) + (there.usage.tokens.difference ?? 0)).toBeCloseTo(0, 6);
      }),
    );
  });

  test('counts every pair once', () => {
    fc.assert(
      fc.property(someResults(), someResults(), fc.nat(20), (one, other, limit) => {
        const { counts, changes, hasMore } = compare(aSide(one), aSide(other), { on: 'all', limit });
        const keys = new Set([...one, ...other].map(({ caseId }) => caseId));
        expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(keys.size);
        expect(changes).toHaveLength(Math.min(limit, keys.size - counts.unchanged));
        expect(hasMore).toBe(keys.size - counts.unchanged > limit);
      }),
    );
  });
});

describe('usage', () => {
  test('is compared where both sides have it, and summed over all', () => {
    const used = (id: string, tokens?: number, costUsd?: number) =>
      aResult(id, { usage: { ...(tokens !== undefined && { tokens }), ...(costUsd !== undefined && { costUsd }) } });
    const baseline = aSide([used('a', 10, 1), used('b', 20), used('c', 30), used('d')]);
    const candidate = aSide([used('a', 13), used('b', 25), used('c'), used('d', 7)]);
    const { tokens, costUsd, steps } = compare(baseline, candidate, all).usage;
    expect(tokens).toMatchObject({ n: 2, baseline: 15, candidate: 19, difference: 4 });
    expect(tokens).toMatchObject({ baselineTotal: 60, candidateTotal: 45 });
    // t of one degree of freedom times √2 / √2.
    expect([tokens.low, tokens.high].map((bound) => bound?.toFixed(2))).toEqual(['-8.71', '16.71']);
    expect(costUsd).toMatchObject({ n: 0, difference: null, low: null, baselineTotal: 1, candidateTotal: null });
    expect(steps).toMatchObject({ n: 0, baseline: null, candidate: null, baselineTotal: null });
  });

  test('of several trials is their mean', () => {
    const took = (trial: number, durationMs: number) => aResult('a', { trial, durationMs });
    const twice = { trials: 2 };
    const { durationMs } = compare(
      aSide([took(1, 10), took(2, 30)], twice),
      aSide([took(1, 50), took(2, 70)], twice),
      all,
    ).usage;
    expect(durationMs).toMatchObject({ n: 1, baseline: 20, candidate: 60, difference: 40, candidateTotal: 120 });
  });
});

test('every grader has its rates and what changed for it, the worst first', () => {
  const scores = (equals: boolean, size?: boolean) => ({
    scores: [
      aScore({ passed: equals }),
      ...(size === undefined ? [] : [aScore({ grader: 'size', kind: 'numeric', passed: size })]),
    ],
  });
  const baseline = aSide([aResult('a', scores(true, false)), aResult('b', scores(true))]);
  const candidate = aSide([aResult('a', scores(false, true)), aResult('b', scores(true, true))]);
  const { graders, graderCount } = compare(baseline, candidate, all);
  expect(graders).toMatchObject([
    { grader: 'equals', kind: 'equals', baseline: { n: 2, passed: 2 }, candidate: { n: 2, passed: 1 }, regressed: 1 },
    { grader: 'size', kind: 'numeric', baseline: { n: 1, passed: 0 }, candidate: { n: 2, passed: 2 }, fixed: 1 },
  ]);
  expect(graderCount).toBe(2);
});

describe('two scorecards', () => {
  const baseline = aSide([aResult('a'), aResult('b'), aResult('c'), aResult('old')]);

  test('of the same content, graders and trials are comparable, though cases are missing or new', () => {
    expect(incomparable(baseline, aSide([aResult('a'), aResult('more')]))).toEqual([]);
  });

  test('that differ are told in what', () => {
    const results = [aResult('a', { contentHash: 'x' }), aResult('b', { gradersHash: 'x' }), aResult('c')];
    const candidate = aSide(results, { dataset: 'tasks@2.0.0', datasetHash: 'other', trials: 3 });
    expect(incomparable(baseline, candidate).map(({ what, message, cases }) => [what, message, cases])).toEqual([
      ['dataset', 'the baseline is of tasks@1.0.0 (content hash), the candidate of tasks@2.0.0 (content other)', []],
      ['cases', '1 case of both differ in content: a', ['a']],
      ['graders', '1 case of both were judged by other graders: b', ['b']],
      ['trials', 'the baseline has 1 trial of each case, the candidate 3 trials', []],
    ]);
  });

  test('on what is the same of both are compared in nothing else, and that is said', () => {
    const results = [
      aResult('a', { contentHash: 'x' }),
      aResult('b', { gradersHash: 'x' }),
      aResult('c', failed),
      aResult('c', { ...failed, trial: 2 }),
      aResult('new'),
    ];
    const candidate = aSide(results, { datasetHash: 'other', trials: 2 });
    const { basis, differs, counts, changes, test } = compare(baseline, candidate, { on: 'intersection', limit: 10 });
    expect(basis).toBe('intersection');
    expect(differs.map(({ what, count }) => [what, count])).toEqual([
      ['dataset', 0],
      ['cases', 1],
      ['graders', 1],
      ['trials', 0],
      ['cases', 1],
      ['cases', 1],
    ]);
    expect(counts).toMatchObject({ regressed: 1, new: 0, missing: 0, unchanged: 0 });
    expect(changes.map(({ caseId }) => caseId)).toEqual(['c']);
    expect(test.pairs).toBe(1);
  });

  test('on what is the same of both have the same cases', () => {
    fc.assert(
      fc.property(someResults(), someResults(), (one, other) => {
        const common = onIntersection(aSide(one), aSide(other));
        const ids = ({ results }: { results: readonly CaseResult[] }) => results.map(({ caseId }) => caseId).sort();
        expect(ids(common.baseline)).toEqual(ids(common.candidate));
      }),
    );
  });

  test('name at most the first few cases, and count them all', () => {
    const many = Array.from({ length: 500 }, (_, at) => aResult(`case-${at}`));
    const changed = many.map((result) => ({ ...result, contentHash: 'x' }));
    const [cases] = incomparable(aSide(many), aSide(changed));
    expect(cases).toMatchObject({ what: 'cases', count: 500 });
    expect(cases?.cases).toHaveLength(20);
    expect(cases?.message).toMatch(/^500 cases of both differ in content: case-0, .*, and 480 more$/);
  });
});
