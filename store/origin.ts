import { PlatformError } from '../contracts/errors.js';
import { type Queryable, row } from './sql.js';

/** Keeps a finished scorecard from being deleted until the caller's transaction, which carries its results, has ended. */
export async function lockFinished(db: Queryable, workspaceId: string, id: string): Promise<void> {
  const found = await row<{ is_finished: boolean }>(
    db,
    `SELECT finished_at IS NOT NULL AS is_finished FROM scorecards
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`,
    [workspaceId, id],
  );
  if (!found) throw new PlatformError('NOT_FOUND', `there is no scorecard ${id}`);
  if (!found.is_finished) throw new PlatformError('CONFLICT', `${id} has not finished`);
}

/** What a run has in common with the one that it goes on with, in another scorecard and under the same number. */
export const COPIED_COLUMNS = `id, workspace_id, scorecard_id, ordinal, case_id, trial, dataset_pk, case_ordinal, harness_pk,
  pool_id, runtime_version, class, memory_mb, cpu_millicores, infra_retries`;

/** Its values, out of run `r`; `scorecard` is the parameter with the id of the new one. */
export const copiedInto = (
  scorecard: string,
): string => `${scorecard} || '.' || r.ordinal, r.workspace_id, ${scorecard},
  r.ordinal, r.case_id, r.trial, r.dataset_pk, r.case_ordinal, r.harness_pk, r.pool_id, r.runtime_version, r.class,
  r.memory_mb, r.cpu_millicores, r.infra_retries`;
