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
