import { type Ending, endOf } from '../backends/k8s/k8s.end.js';
import { verdictOf } from '../policy/results.js';
import { nextStep } from '../policy/retry.js';
import { aJob } from './k8s-pods.js';

/** What a run of it comes to; its Job is there, unless it is said to be gone. */
export function outcome(ending: Partial<Ending>, isJobGone = false) {
  const end = endOf({ ...(!isJobGone && { job: aJob() }), log: 'complete', ...ending });
  const verdict = verdictOf({ end, graders: [], timeoutSec: 60, setupSec: 60, graderSec: 60 });
  if (verdict.outcome !== 'errored') throw new Error(`it is ${verdict.outcome}`);
  const { errorClass, errorCode, reason } = verdict;
  return { as: `${errorClass} ${errorCode}`, retried: nextStep(verdict, 1, 1).kind === 'retry', reason };
}
