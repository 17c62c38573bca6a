import type { Verdict } from '../policy/results.js';
import { storableJson, storableText } from './storable.js';

/** Assignments that settle a run; their values are $2 to $6. */
export const VERDICT_COLUMNS =
  'outcome = $2, error_class = $3, error_code = $4, reason = $5, scores = $6::jsonb, settled_at = now()';

/** Parameters of a settling statement: the run, then the verdict. */
export function verdictParams(runId: string, verdict: Verdict): unknown[] {
  const [errorClass, errorCode] =
    verdict.outcome === 'errored' ? [verdict.errorClass, verdict.errorCode] : [null, null];
  const reason = verdict.reason === undefined ? null : storableText(verdict.reason);
  const scores = verdict.scores === undefined ? null : storableJson(verdict.scores);
  return [runId, verdict.outcome, errorClass, errorCode, reason, scores];
}
