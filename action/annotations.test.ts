import type { GateVerdict } from '../contracts/gate.js';
import { annotationsOf, answerOf, isFailing, type JudgedGate } from './annotations.js';

interface Parts {
  effective?: GateVerdict;
  regressions?: string[];
  count?: number;
}

const aGate = ({ effective = 'block', regressions = [], count = regressions.length }: Parts): JudgedGate => ({
  effective,
  override: null,
  reasons: [{ message: 'too few' }],
  evidence: { regressions, regressionCount: count, wouldDecide: null },
});

test.each([
  ['pass', 'pass', false, false],
  ['block', 'block', true, true],
  ['blocked_missing', 'cannot-tell', true, false],
  ['not_comparable', 'cannot-tell', true, false],
  ['inconclusive', 'cannot-tell', true, false],
] as const)('%s is %s; whether it fails is the workflow’s choice', (effective, answer, byDefault, onBlockOnly) => {
  expect(answerOf({ effective })).toBe(answer);
  expect(isFailing(answer, 'cannot-tell')).toBe(byDefault);
  expect(isFailing(answer, 'block')).toBe(onBlockOnly);
});

test('the first is the verdict with its grounds, then each regression by name', () => {
  const [verdict, ...named] = annotationsOf(aGate({ regressions: ['math/sum', 'json/a#2'] }), undefined, 'cannot-tell');
  expect(verdict).toEqual({ level: 'error', title: 'Everdict: block', message: 'too few' });
  expect(named.map(({ level, message }) => `${level} ${message.split(' ')[0]}`)).toEqual([
    'error math/sum',
    'error json/a#2',
  ]);
});

test('there are no more of them than GitHub shows, and the rest is counted', () => {
  const regressions = Array.from({ length: 50 }, (_, n) => `case-${n}`);
  const all = annotationsOf(aGate({ regressions, count: 80 }), undefined, 'block');
  expect(all).toHaveLength(10);
  expect(all[0]?.message).toContain('71 more regressions');
});

test('a verdict that does not fail the step warns, and a pass is a notice', () => {
  expect(annotationsOf(aGate({ effective: 'inconclusive' }), undefined, 'block')[0]).toMatchObject({
    level: 'warning',
    title: 'Everdict: cannot tell (inconclusive)',
  });
  expect(annotationsOf(aGate({ effective: 'pass' }), undefined, 'block')[0]?.level).toBe('notice');
});

test('without a baseline that the policy needs it says so', () => {
  const [only, ...others] = annotationsOf(undefined, 'no scorecard of main yet', 'cannot-tell');
  expect(only).toEqual({ level: 'error', title: 'Everdict: cannot tell', message: 'no scorecard of main yet' });
  expect(others).toEqual([]);
});
