import type { ErrorClass } from '../contracts/attempt.js';
import type { Outcome, RunState } from '../contracts/run.js';

/** Which runs of a list are wanted, and which page of them. */
export interface RunFilter<Position> {
  state?: RunState;
  outcome?: Outcome;
  errorClass?: ErrorClass;
  /** Of the last run of the page before. */
  after?: Position;
  limit: number;
}

const IN_STATE: Record<RunState, string> = {
  queued: 'r.outcome IS NULL AND r.open_attempt IS NULL AND r.asked_at IS NULL',
  waiting: 'r.outcome IS NULL AND r.open_attempt IS NULL AND r.asked_at IS NOT NULL',
  running: 'r.outcome IS NULL AND r.open_attempt IS NOT NULL',
  settled: 'r.outcome IS NOT NULL',
};

/** A condition on run `r` whose parameters are $1 and $2, the `filterParams`. */
export const filterCondition = ({ state }: Pick<RunFilter<unknown>, 'state'>): string =>
  `($1::text IS NULL OR r.outcome = $1) AND ($2::text IS NULL OR (r.outcome = 'errored' AND r.error_class = $2))
   AND ${state ? IN_STATE[state] : 'true'}`;

export const filterParams = ({ outcome, errorClass }: RunFilter<unknown>): (string | null)[] => [
  outcome ?? null,
  errorClass ?? null,
];
