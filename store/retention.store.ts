import type { DataSource } from 'typeorm';
import type { Retention } from '../contracts/retention.js';
import { insertAudit } from './audit.store.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { newId } from './ids.js';
import { affected, type Queryable, row, rows, transaction } from './sql.js';

/** Scorecards that are marked in one transaction. */
const MARKED = 100;
/** Chunks of logs, and runs, that are deleted in one. */
const CHUNKS = 500;
const RUNS = 1_000;

/** Who deletes what nobody asked to delete. */
export const RETENTION = 'retention';

const IN_USE = `(
  EXISTS (SELECT FROM baselines WHERE scorecard_id = s.id)
  OR EXISTS (
    SELECT FROM runs c JOIN scorecards o ON o.id = c.scorecard_id AND o.deleted_at IS NULL AND o.id <> s.id
    WHERE c.carried_from > s.id || '.' AND c.carried_from < s.id || '/'))`;

/** A finished scorecard of a workspace that keeps them for so long. */
const DUE = `
  SELECT s.id FROM workspaces w JOIN scorecards s ON s.workspace_id = w.id
  WHERE w.results_days IS NOT NULL AND s.finished_at IS NOT NULL AND s.deleted_at IS NULL
    AND coalesce(s.restored_at, s.finished_at) < now() - make_interval(days => w.results_days) AND NOT ${IN_USE}
  ORDER BY s.id LIMIT ${MARKED} FOR UPDATE OF s SKIP LOCKED`;

const LOGS_DUE = `
  SELECT s.id FROM workspaces w JOIN scorecards s ON s.workspace_id = w.id
  WHERE w.logs_days IS NOT NULL AND s.finished_at IS NOT NULL AND s.logs_purged_at IS NULL
    AND s.finished_at < now() - make_interval(days => w.logs_days)
  ORDER BY s.id LIMIT ${MARKED} FOR UPDATE OF s SKIP LOCKED`;

/** Nothing of it has a slot, and nobody carries its results, also of those that are deleted and not gone yet. */
const GONE = `
  SELECT s.id, s.workspace_id FROM scorecards s
  WHERE s.purge_at <= clock_timestamp()
    AND NOT EXISTS (SELECT FROM attempts WHERE closed_at IS NULL AND run_id > s.id || '.' AND run_id < s.id || '/')
    AND NOT EXISTS (
      SELECT FROM runs WHERE carried_from > s.id || '.' AND carried_from < s.id || '/' AND scorecard_id <> s.id)
  ORDER BY s.purge_at, s.id LIMIT 1 FOR UPDATE OF s SKIP LOCKED`;

/** How long what is there is kept, and how it goes: a little in each transaction, and on from wherever that stopped. */
export class RetentionStore {
  constructor(private readonly dataSource: DataSource) {}

  read(workspaceId: string): Promise<Retention | undefined> {
    return readRetention(this.dataSource, workspaceId);
  }

  set(workspaceId: string, { resultsDays, logsDays }: Retention): Promise<void> {
    return transaction(this.dataSource, async (db) => {
      const before = await readRetention(db, workspaceId, 'FOR NO KEY UPDATE');
      await rows(db, 'UPDATE workspaces SET results_days = $2, logs_days = $3 WHERE id = $1', [
        ...[workspaceId, resultsDays, logsDays],
      ]);
      await auditWithin(db, {
        object: workspaceId,
        ...(before && { before: contentHash(before) }),
        after: contentHash({ resultsDays, logsDays }),
      });
    });
  }

  /** Hides scorecards that are too old, but those that run, are pinned, or whose results others carry. Returns how many. */
  deleteOld(graceSec: number): Promise<number> {
    return transaction(this.dataSource, async (db) => {
      const due = await rows<{ id: string }>(db, DUE);
      if (due.length === 0) return 0;
      // What was pinned or carried on before they were locked is seen by now.
      const deleted = await rows<{ id: string; workspace_id: string }>(
        db,
        `UPDATE scorecards s SET deleted_at = now(), deleted_by = $2, purge_at = now() + make_interval(secs => $3)
         WHERE id = ANY ($1) AND NOT ${IN_USE} RETURNING id, workspace_id`,
        [due.map(({ id }) => id), RETENTION, graceSec],
      );
      await audited(db, 'scorecards.delete', deleted);
      return deleted.length;
    });
  }

  /** Hides the logs of runs that are too old, at once, before the first of them is deleted. */
  async hideOldLogs(): Promise<number> {
    return affected(this.dataSource, `UPDATE scorecards SET logs_purged_at = now() WHERE id IN (${LOGS_DUE})`);
  }

  /** Deletes some of what is hidden. False: nothing is left to delete now. */
  async purge(): Promise<boolean> {
    return (await this.purgeLogs()) || (await this.purgeScorecard());
  }

  private purgeLogs(): Promise<boolean> {
    return transaction(this.dataSource, async (db) => {
      const due = await row<{ id: string }>(
        db,
        `SELECT id FROM scorecards WHERE logs_purged_at IS NOT NULL AND has_logs
         ORDER BY logs_purged_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`,
      );
      if (!due) return false;
      const deleted = await deleteChunks(db, due.id);
      if (deleted < CHUNKS) await rows(db, 'UPDATE scorecards SET has_logs = false WHERE id = $1', [due.id]);
      return true;
    });
  }

  private purgeScorecard(): Promise<boolean> {
    return transaction(this.dataSource, async (db) => {
      const gone = await row<{ id: string; workspace_id: string }>(db, GONE);
      if (!gone) return false;
      if ((await deleteChunks(db, gone.id)) > 0 || (await deleteRuns(db, gone.id)) > 0) return true;
      await rows(db, 'DELETE FROM scorecards WHERE id = $1', [gone.id]);
      await audited(db, 'scorecards.purge', [gone]);
      return true;
    });
  }
}

const readRetention = (db: Queryable, workspaceId: string, lock = ''): Promise<Retention | undefined> =>
  row<Retention>(
    db,
    `SELECT results_days AS "resultsDays", logs_days AS "logsDays" FROM workspaces WHERE id = $1 ${lock}`,
    [workspaceId],
  );

/** Some of the logs of a scorecard's runs, in the order of their key. */
const deleteChunks = (db: Queryable, id: string): Promise<number> =>
  affected(
    db,
    `DELETE FROM log_chunks WHERE (run_id, attempt, stream, at) IN (
       SELECT run_id, attempt, stream, at FROM log_chunks WHERE run_id > $1 || '.' AND run_id < $1 || '/'
       ORDER BY run_id, attempt, stream, at LIMIT ${CHUNKS})`,
    [id],
  );

/** Some of a scorecard's runs, with all that is theirs. */
async function deleteRuns(db: Queryable, id: string): Promise<number> {
  const found = await rows<{ id: string }>(
    db,
    `SELECT id FROM runs WHERE scorecard_id = $1 ORDER BY ordinal LIMIT ${RUNS}`,
    [id],
  );
  const ids = [found.map((run) => run.id)];
  await rows(db, 'DELETE FROM wait_predictions WHERE run_id = ANY ($1)', ids);
  await rows(db, 'DELETE FROM attempts WHERE run_id = ANY ($1)', ids);
  return affected(db, 'DELETE FROM runs WHERE id = ANY ($1)', ids);
}

/** What the platform does by itself is in the trail of the workspace, too. */
async function audited(db: Queryable, action: string, of: readonly { id: string; workspace_id: string }[]) {
  const at = new Date().toISOString();
  const events = of.map(({ id: object, workspace_id: workspace }) => ({
    ...{
      id: newId('aud'),
      at,
      workspace,
      subject: RETENTION,
      role: null,
      keyId: null,
      action,
      kind: 'scorecard',
      object,
    },
    ...{ source: 'sweep', requestId: 'sweep', status: 200, code: null, before: null, after: null },
  }));
  await insertAudit(db, events);
}
