import type { ComparedScorecard, Incomparable } from '../../contracts/comparison.js';
import type { CaseResult } from '../case-result.js';

/** One of two scorecards that are compared, with everything its runs came to. */
export interface Side {
  scorecard: ComparedScorecard;
  results: readonly CaseResult[];
}

export interface Sides {
  baseline: Side;
  candidate: Side;
}

/** Cases that one statement names. */
const MOST_NAMED = 20;

type Content = Pick<CaseResult, 'contentHash' | 'gradersHash'>;

type Contents = ReadonlyMap<string, Content>;

/** Cases by id: all trials of one are of the same content. */
function contentsOf({ results }: Side): Contents {
  const contents = new Map<string, Content>();
  for (const result of results) contents.set(result.caseId, result);
  return contents;
}

/** Cases of both where the two differ in this. */
function differing(olds: Contents, news: Contents, key: keyof Content): string[] {
  return [...olds.keys()].filter((caseId) => {
    const recent = news.get(caseId);
    return recent && recent[key] !== olds.get(caseId)?.[key];
  });
}

const alone = (those: Contents, others: Contents): string[] =>
  [...those.keys()].filter((caseId) => !others.has(caseId));

function named(what: Incomparable['what'], cases: readonly string[], statement: string): Incomparable[] {
  if (cases.length === 0) return [];
  const shown = cases.slice(0, MOST_NAMED);
  const more = cases.length > shown.length ? `, and ${cases.length - shown.length} more` : '';
  const counted = `${cases.length} ${cases.length === 1 ? 'case' : 'cases'}`;
  return [{ what, message: `${counted} ${statement}: ${shown.join(', ')}${more}`, cases: shown, count: cases.length }];
}

const bare = (what: Incomparable['what'], message: string): Incomparable => ({ what, message, cases: [], count: 0 });

const times = (trials: number): string => (trials === 1 ? '1 trial' : `${trials} trials`);

const contentName = ({ dataset, datasetHash }: ComparedScorecard): string =>
  `${dataset} (content ${datasetHash.slice(0, 12)})`;

/**
 * What keeps two scorecards from being compared whole: other content of the dataset or of a case, other graders, another
 * number of trials. Empty: nothing does. Cases that only one of them has do not: they are new, or missing.
 */
export function incomparable(baseline: Side, candidate: Side): Incomparable[] {
  const [old, recent] = [baseline.scorecard, candidate.scorecard];
  const [olds, news] = [contentsOf(baseline), contentsOf(candidate)];
  const dataset = `the baseline is of ${contentName(old)}, the candidate of ${contentName(recent)}`;
  const trials = `the baseline has ${times(old.trials)} of each case, the candidate ${times(recent.trials)}`;
  return [
    ...(old.datasetHash === recent.datasetHash ? [] : [bare('dataset', dataset)]),
    ...named('cases', differing(olds, news, 'contentHash'), 'of both differ in content'),
    ...named('graders', differing(olds, news, 'gradersHash'), 'of both were judged by other graders'),
    ...(old.trials === recent.trials ? [] : [bare('trials', trials)]),
  ];
}

/**
 * Both, with nothing but the cases that are the same on both sides, graders and all, and the trials that both have.
 * `differs` says what was left out.
 */
export function onIntersection(baseline: Side, candidate: Side): Sides & { differs: Incomparable[] } {
  const [olds, news] = [contentsOf(baseline), contentsOf(candidate)];
  const trials = Math.min(baseline.scorecard.trials, candidate.scorecard.trials);
  const isCommon = ({ caseId, trial }: CaseResult): boolean => {
    const [old, recent] = [olds.get(caseId), news.get(caseId)];
    return old?.contentHash === recent?.contentHash && old?.gradersHash === recent?.gradersHash && trial <= trials;
  };
  return {
    baseline: { ...baseline, results: baseline.results.filter(isCommon) },
    candidate: { ...candidate, results: candidate.results.filter(isCommon) },
    differs: [
      ...incomparable(baseline, candidate),
      ...named('cases', alone(olds, news), 'in the baseline alone'),
      ...named('cases', alone(news, olds), 'in the candidate alone'),
    ],
  };
}
