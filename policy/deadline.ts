/** Where a run was when the deadline of its scorecard passed. */
export type LateState = 'running' | 'waiting' | 'queued';

const WHERE: Record<LateState, string> = {
  running: 'while it ran, and it was stopped',
  waiting: 'while it waited for a slot',
  queued: 'before its turn came',
};

/** Why a run ends that has no outcome at the deadline. */
export const lateReason = (state: LateState, deadlineSec: number): string =>
  `the scorecard's deadline, ${deadlineSec} s after it was submitted, passed ${WHERE[state]}`;
