/** How long the parts of a cluster take, in ms. */
export interface Pace {
  /** Until a change of a Job or its pods is looked at, and between two tries to create a pod: at first, at most. */
  jobMs: number;
  createAgainMs: number;
  createAgainAtMostMs: number;
  /** Until pods that have no node are looked at. */
  scheduleMs: number;
  /** Until what belongs to nobody is deleted. */
  collectMs: number;
  /** Until pods are ended that nobody can end any more. */
  podGcMs: number;
  /** Until a node that says nothing counts as lost. */
  nodeGraceMs: number;
  /** Until the use of quotas is written down. */
  quotaMs: number;
  /** Of a second as objects say it: of a TTL, a deadline of a Job, a toleration. */
  secondMs: number;
}

export const FAST: Pace = {
  ...{ jobMs: 2, createAgainMs: 20, createAgainAtMostMs: 500, scheduleMs: 2, collectMs: 1, podGcMs: 20 },
  ...{ nodeGraceMs: 50, quotaMs: 10, secondMs: 1_000 },
};
