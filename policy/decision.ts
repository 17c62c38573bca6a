import type { Settlement } from '../contracts/scorecard.js';
import { errored, type Verdict } from './results.js';

/** The verdict that an operator's decision writes. An error by decision is nobody's measurement, the model's least of all. */
export function decisionOf({ outcome, reason }: Pick<Settlement, 'outcome' | 'reason'>): Verdict {
  return outcome === 'errored' ? errored('OPERATOR_DECISION', reason) : { outcome, reason };
}
