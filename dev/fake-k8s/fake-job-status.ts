import type { Condition, Job, JobStatus, Pod } from './fake-objects.js';
import { hasEnded } from './fake-quota.js';
import { timestamp } from './fake-store.js';

export const TRACKING = 'batch.kubernetes.io/job-tracking';

export const isTrue = (status: JobStatus, type: string): boolean =>
  (status.conditions ?? []).some((each) => each.type === type && each.status === 'True');

/** How it is to end is clear. */
export const isDecided = (status: JobStatus): boolean =>
  isTrue(status, 'FailureTarget') || isTrue(status, 'SuccessCriteriaMet');

/** Nothing of it changes any more. */
export const isFinished = ({ status }: Job): boolean => isTrue(status, 'Complete') || isTrue(status, 'Failed');

export const isTracked = ({ metadata }: Pod): boolean => metadata.finalizers?.includes(TRACKING) ?? false;

/** A pod that is being deleted counts as failed at once, but where only failed ones are replaced. */
export function hasFailed({ metadata, status }: Pod, { spec }: Job): boolean {
  if (status.phase === 'Failed') return true;
  if (spec.podReplacementPolicy === 'Failed') return false;
  return metadata.deletionTimestamp !== undefined && status.phase !== 'Succeeded';
}

export const isActive = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;
export const isTerminating = (pod: Pod): boolean => !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined;

const isReady = ({ status }: Pod): boolean =>
  (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

export interface Outcome {
  type: 'FailureTarget' | 'SuccessCriteriaMet';
  reason: string;
  message: string;
}

/** How a Job is to end, as soon as that is clear. */
export function outcomeOf({ spec }: Job, status: JobStatus, isOverdue: boolean): Outcome | undefined {
  if (isOverdue) {
    const message = 'Job was active longer than specified deadline';
    return { type: 'FailureTarget', reason: 'DeadlineExceeded', message };
  }
  if ((status.failed ?? 0) > (spec.backoffLimit ?? 6)) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'FailureTarget', reason: 'BackoffLimitExceeded', message };
  }
  if ((status.succeeded ?? 0) < (spec.completions ?? 1)) return undefined;
  const message = 'Reached expected number of succeeded pods';
  return { type: 'SuccessCriteriaMet', reason: 'CompletionsReached', message };
}

/** With a condition set, or changed where it says something else. */
export function withCondition(status: JobStatus, type: string, isSo: boolean, reason: string, message: string) {
  const conditions = status.conditions ?? [];
  const now = timestamp();
  const wanted = { type, status: isSo ? 'True' : 'False', reason, message };
  const found = conditions.find((each) => each.type === type);
  if (found?.status === wanted.status) return;
  const condition: Condition = { ...wanted, lastProbeTime: now, lastTransitionTime: now };
  status.conditions = [...conditions.filter((each) => each !== found), condition];
}

/** Counts what has ended since it was counted last. */
export function countEnded(status: JobStatus, ended: readonly Pod[]): void {
  const succeeded = ended.filter((pod) => pod.status.phase === 'Succeeded').length;
  const failed = ended.length - succeeded;
  if (succeeded > 0) status.succeeded = (status.succeeded ?? 0) + succeeded;
  if (failed > 0) status.failed = (status.failed ?? 0) + failed;
}

/** Counts what there is: of those that are active there is no zero. */
export function countLive(status: JobStatus, pods: readonly Pod[]): void {
  const active = pods.filter(isActive);
  if (active.length > 0) status.active = active.length;
  else delete status.active;
  status.ready = active.filter(isReady).length;
  status.terminating = pods.filter(isTerminating).length;
  status.uncountedTerminatedPods = {};
}
