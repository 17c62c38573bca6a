import type { DataSource } from 'typeorm';
import type { BaselineView } from '../contracts/baseline.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { row, rows, transaction } from './sql.js';

interface BaselineRow {
  name: string;
  scorecard_id: string;
  pinned_by: string;
  pinned_at: Date;
}

interface Pin {
  name: string;
  scorecard: string;
  by: string;
}

const COLUMNS = 'name, scorecard_id, pinned_by, pinned_at';

const toView = (stored: BaselineRow): BaselineView => ({
  name: stored.name,
  scorecard: stored.scorecard_id,
  pinnedBy: stored.pinned_by,
  pinnedAt: stored.pinned_at.toISOString(),
});

const hashOf = (scorecard: string): string => contentHash({ scorecard });

/** Names that a workspace gives to scorecards it compares others with. */
export class BaselineStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Points a name to a scorecard, or moves it there. `unfinished`: only a completed one can be pinned. */
  pin(workspaceId: string, { name, scorecard, by }: Pin): Promise<BaselineView | 'missing' | 'unfinished'> {
    return transaction(this.dataSource, async (db) => {
      // Held, so that it is not deleted meanwhile.
      const found = await row<{ phase: string }>(
        db,
        'SELECT phase FROM scorecards WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE',
        [workspaceId, scorecard],
      );
      if (!found) return 'missing';
      if (found.phase !== 'completed') return 'unfinished';
      const before = await row<{ scorecard_id: string }>(
        db,
        'SELECT scorecard_id FROM baselines WHERE workspace_id = $1 AND name = $2 FOR UPDATE',
        [workspaceId, name],
      );
      const [pinned] = await rows<BaselineRow>(
        db,
        `INSERT INTO baselines AS known (workspace_id, name, scorecard_id, pinned_by) VALUES ($1, $2, $3, $4)
         ON CONFLICT (workspace_id, name) DO UPDATE SET scorecard_id = $3,
           pinned_by = CASE WHEN known.scorecard_id = $3 THEN known.pinned_by ELSE $4 END,
           pinned_at = CASE WHEN known.scorecard_id = $3 THEN known.pinned_at ELSE now() END
         RETURNING ${COLUMNS}`,
        [workspaceId, name, scorecard, by],
      );
      if (!pinned) throw new Error(`baseline ${name} was not stored`);
      await auditWithin(db, {
        object: name,
        ...(before && { before: hashOf(before.scorecard_id) }),
        after: hashOf(scorecard),
      });
      return toView(pinned);
    });
  }

  async find(workspaceId: string, name: string): Promise<BaselineView | undefined> {
    const sql = `SELECT ${COLUMNS} FROM baselines WHERE workspace_id = $1 AND name = $2`;
    const found = await row<BaselineRow>(this.dataSource, sql, [workspaceId, name]);
    return found && toView(found);
  }

  /** By name; `after` is the last one of the page before. */
  async list(workspaceId: string, { after = '', limit }: { after?: string; limit: number }): Promise<BaselineView[]> {
    const sql = `SELECT ${COLUMNS} FROM baselines WHERE workspace_id = $1 AND name > $2 ORDER BY name LIMIT $3`;
    return (await rows<BaselineRow>(this.dataSource, sql, [workspaceId, after, limit])).map(toView);
  }

  /** The scorecard stays. */
  unpin(workspaceId: string, name: string): Promise<BaselineView | undefined> {
    return transaction(this.dataSource, async (db) => {
      const sql = `DELETE FROM baselines WHERE workspace_id = $1 AND name = $2 RETURNING ${COLUMNS}`;
      const removed = await row<BaselineRow>(db, sql, [workspaceId, name]);
      if (!removed) return undefined;
      await auditWithin(db, { object: name, before: hashOf(removed.scorecard_id) });
      return toView(removed);
    });
  }
}
