import type { ReportedRun } from './data.js';

/** The outcome, and for an error who is to blame and the code. */
export function outcomeText({
  outcome,
  errorClass,
  errorCode,
}: Pick<ReportedRun, 'outcome' | 'errorClass' | 'errorCode'>): string {
  if (outcome !== 'errored') return outcome ?? 'not ended';
  return `errored ${[errorClass, errorCode].filter(Boolean).join('/')}`.trim();
}

/** A sentence why a run did not pass, or nothing. */
export function reasonOf({ reason, scores, errorCode }: Pick<ReportedRun, 'reason' | 'scores' | 'errorCode'>): string {
  const wrong = scores?.filter(({ passed }) => !passed).map(({ grader, detail }) => `${grader}: ${detail}`) ?? [];
  return reason ?? (wrong.length > 0 ? wrong.join('; ') : (errorCode ?? ''));
}

/** `caseId#trial` where cases have several trials. */
export const caseName = ({ caseId, trial }: Pick<ReportedRun, 'caseId' | 'trial'>, trials: number): string =>
  trials > 1 ? `${caseId}#${trial}` : caseId;

const WORST_FIRST = ['failed', 'errored', 'cancelled'];

type Ended = Pick<ReportedRun, 'outcome' | 'decidedBy'>;

/** What an operator decided is no answer of the graders. */
const isNotPassed = ({ outcome, decidedBy }: Ended): boolean => outcome !== 'passed' || decidedBy !== null;

/** Those that did not pass, or that an operator decided, worst first. */
export const notPassed = <Run extends Ended>(runs: readonly Run[]): Run[] => worstFirst(runs.filter(isNotPassed));

/** Failed, errored, cancelled, then the rest. */
export const worstFirst = <Run extends Ended>(runs: readonly Run[]): Run[] =>
  [...runs].sort((a, b) => rank(a.outcome) - rank(b.outcome));

const rank = (outcome: string | null): number => {
  const at = WORST_FIRST.indexOf(outcome ?? '');
  return at < 0 ? WORST_FIRST.length : at;
};
