import type { DataSource } from 'typeorm';
import type { DeletedScorecard } from '../contracts/retention.js';
import { auditWithin } from './audit-draft.js';
import { type Queryable, row, rows, transaction } from './sql.js';

/** Why a scorecard stays: it runs, names are pinned to it, or others carry its results. Names and ids are the first few. */
export type Kept = { kind: 'unfinished' } | { kind: 'pinned'; names: string[] } | { kind: 'carried'; by: string[] };

/** Why one stays deleted: it is gone or was never there, or what it carries is deleted itself. */
export type NotRestored = { kind: 'missing' } | { kind: 'bare'; origins: string[] };

interface DeletedRow {
  id: string;
  deleted_at: Date;
  deleted_by: string;
  purge_at: Date;
}

const SHOWN = 5;

/** Runs that carry results of scorecard $1: its runs are those between its id with a point and with what follows one. */
const CARRIED = `carried_from > $1 || '.' AND carried_from < $1 || '/'`;

const toDeleted = (stored: DeletedRow): DeletedScorecard => ({
  id: stored.id,
  deletedAt: stored.deleted_at.toISOString(),
  deletedBy: stored.deleted_by,
  purgeAt: stored.purge_at.toISOString(),
});

/** Hides scorecards, and brings them back. A row that is looked at is locked: pins and retries take it first, or wait. */
export class DeletionStore {
  constructor(private readonly dataSource: DataSource) {}

  /** From the commit on nobody sees it. Absent: nobody saw it before. */
  async delete(
    workspaceId: string,
    id: string,
    { by, graceSec }: { by: string; graceSec: number },
  ): Promise<DeletedScorecard | Kept | undefined> {
    return transaction(this.dataSource, async (db) => {
      const found = await row<{ is_finished: boolean }>(
        db,
        `SELECT finished_at IS NOT NULL AS is_finished FROM scorecards
         WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`,
        [workspaceId, id],
      );
      if (!found) return undefined;
      const kept = found.is_finished ? await keptBy(db, id) : { kind: 'unfinished' as const };
      if (kept) return kept;
      const [deleted] = await rows<DeletedRow>(
        db,
        `UPDATE scorecards SET deleted_at = now(), deleted_by = $2, purge_at = now() + make_interval(secs => $3)
         WHERE id = $1 RETURNING id, deleted_at, deleted_by, purge_at`,
        [id, by, graceSec],
      );
      await auditWithin(db, { object: id });
      return deleted && toDeleted(deleted);
    });
  }

  /** Done, too, where it was not deleted. */
  async restore(workspaceId: string, id: string): Promise<NotRestored | undefined> {
    return transaction(this.dataSource, async (db) => {
      // The clock, and not the begin of the transaction, which may have waited for a purge.
      const found = await row<{ is_deleted: boolean }>(
        db,
        `SELECT deleted_at IS NOT NULL AS is_deleted FROM scorecards
         WHERE workspace_id = $1 AND id = $2 AND (purge_at IS NULL OR purge_at > clock_timestamp()) FOR UPDATE`,
        [workspaceId, id],
      );
      if (!found) return { kind: 'missing' };
      if (!found.is_deleted) return undefined;
      const origins = await lockedOrigins(db, id);
      if (origins.length > 0) return { kind: 'bare', origins };
      await rows(
        db,
        `UPDATE scorecards SET deleted_at = NULL, deleted_by = NULL, purge_at = NULL, restored_at = now() WHERE id = $1`,
        [id],
      );
      await auditWithin(db, { object: id });
      return undefined;
    });
  }

  /** One that can still be restored. */
  async find(workspaceId: string, id: string): Promise<DeletedScorecard | undefined> {
    const found = await row<DeletedRow>(
      this.dataSource,
      `SELECT id, deleted_at, deleted_by, purge_at FROM scorecards
       WHERE workspace_id = $1 AND id = $2 AND purge_at > clock_timestamp()`,
      [workspaceId, id],
    );
    return found && toDeleted(found);
  }

  /** When retention deleted the logs of a run, or of the one that it was carried from. */
  async logsPurgedAt(runId: string): Promise<Date | undefined> {
    const found = await row<{ logs_purged_at: Date | null }>(
      this.dataSource,
      'SELECT s.logs_purged_at FROM runs r JOIN scorecards s ON s.id = r.scorecard_id WHERE r.id = $1',
      [runId],
    );
    return found?.logs_purged_at ?? undefined;
  }
}

async function keptBy(db: Queryable, id: string): Promise<Kept | undefined> {
  const pins = await rows<{ name: string }>(
    db,
    'SELECT name FROM baselines WHERE scorecard_id = $1 ORDER BY name LIMIT $2',
    [id, SHOWN],
  );
  if (pins.length > 0) return { kind: 'pinned', names: pins.map(({ name }) => name) };
  const carriers = await rows<{ id: string }>(
    db,
    `SELECT id FROM scorecards WHERE deleted_at IS NULL AND id <> $1
       AND id IN (SELECT scorecard_id FROM runs WHERE ${CARRIED}) ORDER BY id LIMIT $2`,
    [id, SHOWN],
  );
  return carriers.length > 0 ? { kind: 'carried', by: carriers.map((carrier) => carrier.id) } : undefined;
}

/** Those whose results it carries and that are deleted. The others are kept from it until the transaction ends. */
async function lockedOrigins(db: Queryable, id: string): Promise<string[]> {
  const found = await rows<{ id: string; is_deleted: boolean }>(
    db,
    `SELECT id, deleted_at IS NOT NULL AS is_deleted FROM scorecards
     WHERE id IN (SELECT split_part(carried_from, '.', 1) FROM runs WHERE scorecard_id = $1 AND carried_from IS NOT NULL)
     ORDER BY id FOR SHARE`,
    [id],
  );
  return found.filter(({ is_deleted }) => is_deleted).map((origin) => origin.id);
}
