import type { DataSource } from 'typeorm';
import { type DurationKey, durationKey, type OfCase } from './pool-rows.js';
import { rows, transaction } from './sql.js';

/** A request for a slot. */
export interface Asked {
  runId: string;
  /** Epoch ms. */
  askedAt: number;
}

/** What the ticket of a run says besides what its workflow knows. */
export interface AskedRun {
  runId: string;
  workspace: string;
  sessionPool?: string;
  /** Epoch ms. */
  promotedAt?: number;
  duration: DurationKey;
}

interface AskedRow extends OfCase {
  id: string;
  workspace_id: string;
  pool_id: string;
  session_pool: string | null;
  promoted_at: Date | null;
}

/**
 * Notes since when a slot is asked for, and who is to be told of it. A repeat keeps the first time. Returns the runs
 * that still want one, those without outcome, with what their tickets say.
 */
export function noteAsked(dataSource: DataSource, asked: readonly Asked[], askedBy: string): Promise<AskedRun[]> {
  const runIds = asked.map(({ runId }) => runId);
  return transaction(dataSource, async (db) => {
    await rows(db, 'SELECT 1 FROM runs WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE', [runIds]);
    const open = await rows<AskedRow>(
      db,
      `UPDATE runs SET asked_at = coalesce(runs.asked_at, asked.at), asked_by = $2
       FROM unnest($1::text[], $3::timestamptz[]) AS asked (id, at), harnesses h
       WHERE runs.id = asked.id AND h.pk = runs.harness_pk AND outcome IS NULL
       RETURNING runs.id, runs.workspace_id, runs.pool_id, runs.harness_pk, runs.dataset_pk, h.session_pool,
         runs.promoted_at`,
      [runIds, askedBy, asked.map(({ askedAt }) => new Date(askedAt))],
    );
    return open.map(({ id, workspace_id, pool_id, session_pool, promoted_at, ...of }) => ({
      runId: id,
      workspace: workspace_id,
      duration: durationKey(pool_id, of),
      ...(session_pool !== null && { sessionPool: session_pool }),
      ...(promoted_at && { promotedAt: promoted_at.getTime() }),
    }));
  });
}
