import type { DataSource } from 'typeorm';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { WorkspaceLimitsChange } from '../contracts/workspace-limits.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import type { ChangedLimits } from './pool-limits.js';
import { affected, row, rows, transaction } from './sql.js';

/** What the operator set for a workspace. */
export interface StoredShare {
  weight: number;
  maxRunning: number | null;
}

const SHARE = 'weight, max_running AS "maxRunning"';

export class WorkspaceStore {
  constructor(private readonly dataSource: DataSource) {}

  async create(id: string): Promise<'inserted' | 'unchanged'> {
    const sql = 'INSERT INTO workspaces (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id';
    return (await affected(this.dataSource, sql, [id])) > 0 ? 'inserted' : 'unchanged';
  }

  async exists(id: string): Promise<boolean> {
    return (await row(this.dataSource, 'SELECT 1 FROM workspaces WHERE id = $1', [id])) !== undefined;
  }

  /** In the order of their ids; `after` is the last one of the page before. */
  async list({ after = '', limit }: { after?: string; limit: number }): Promise<string[]> {
    const sql = 'SELECT id FROM workspaces WHERE id COLLATE "C" > $1 ORDER BY id COLLATE "C" LIMIT $2';
    return (await rows<{ id: string }>(this.dataSource, sql, [after, limit])).map(({ id }) => id);
  }

  /** With how many of its runs have a slot now. What is shared runs nothing itself, and has none. */
  async share(id: string): Promise<(StoredShare & { running: number }) | undefined> {
    return row<StoredShare & { running: number }>(
      this.dataSource,
      `SELECT ${SHARE}, (SELECT count(*) FROM runs WHERE workspace_id = $1 AND open_attempt IS NOT NULL) AS running
       FROM workspaces WHERE id = $1 AND id <> $2`,
      [id, SHARED_WORKSPACE],
    );
  }

  /** The pools that it waits in are its own and the shared ones: their ledgers are to be told. */
  changeShare(id: string, { weight, maxRunning }: WorkspaceLimitsChange): Promise<ChangedLimits[] | undefined> {
    return transaction(this.dataSource, async (db) => {
      const before = await row<StoredShare>(
        db,
        `SELECT ${SHARE} FROM workspaces WHERE id = $1 AND id <> $2 FOR NO KEY UPDATE`,
        [id, SHARED_WORKSPACE],
      );
      if (!before) return undefined;
      const after = {
        weight: weight ?? before.weight,
        maxRunning: maxRunning === undefined ? before.maxRunning : maxRunning,
      };
      await rows(db, 'UPDATE workspaces SET weight = $2, max_running = $3 WHERE id = $1', [
        ...[id, after.weight, after.maxRunning],
      ]);
      const changed = await rows<ChangedLimits>(
        db,
        `UPDATE pools SET envelope_version = envelope_version + 1
         WHERE id IN (SELECT id FROM pools WHERE workspace_id IN ($1, $2) ORDER BY id FOR NO KEY UPDATE)
         RETURNING id AS "poolId", envelope_version AS "envelopeVersion"`,
        [id, SHARED_WORKSPACE],
      );
      await auditWithin(db, { object: id, before: contentHash(before), after: contentHash(after) });
      return changed;
    });
  }
}
