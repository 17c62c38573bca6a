import type { DataSource } from 'typeorm';
import type { Rotation } from '../contracts/secret.js';
import { type Queryable, rows, transaction } from '../store/sql.js';
import type { Sealer } from './sealer.js';

interface SealedRow {
  workspace_id: string;
  name: string;
  use: string;
  bindings: string[];
  sealed: Buffer;
  key_id: string;
}

const BATCH = 100;

/** Seals every secret with the first key. */
export class SecretRotation {
  constructor(
    private readonly dataSource: DataSource,
    private readonly sealer: Sealer,
  ) {}

  /**
   * In batches, each whole or not at all, so that a rotation that was cut short goes on where it was. A row is locked
   * while it is sealed anew: a value that is set meanwhile comes after, and stays.
   */
  async rotate(): Promise<Rotation> {
    const { id: key } = this.sealer.current;
    const unreadable: Rotation['unreadable'] = [];
    let resealed = 0;
    for (let after: SealedRow | undefined; ; ) {
      const batch = await transaction(this.dataSource, (db) => this.resealAfter(db, key, after));
      resealed += batch.rows.length - batch.closed.length;
      unreadable.push(...batch.closed);
      after = batch.rows.at(-1);
      if (!after) break;
    }
    return { key, resealed, unreadable, unneeded: await this.unneeded(key) };
  }

  private async resealAfter(db: Queryable, key: string, after: SealedRow | undefined) {
    const batch = await rows<SealedRow>(
      db,
      `SELECT workspace_id, name, use, bindings, sealed, key_id FROM secrets
       WHERE key_id <> $1 AND ($2::text IS NULL OR (workspace_id, name) > ($2, $3))
       ORDER BY workspace_id, name LIMIT ${BATCH} FOR NO KEY UPDATE`,
      [key, after?.workspace_id ?? null, after?.name ?? null],
    );
    const closed: Rotation['unreadable'] = [];
    for (const { workspace_id: workspaceId, name, use, bindings, sealed, key_id: keyId } of batch) {
      const place = { workspaceId, name, use, bindings };
      const opened = this.sealer.open(place, { keyId, bytes: sealed });
      if (opened.kind === 'closed') {
        closed.push({ workspace: workspaceId, name, reason: opened.reason });
        continue;
      }
      const { bytes } = this.sealer.seal(place, opened.value);
      const sql = 'UPDATE secrets SET sealed = $3, key_id = $4 WHERE workspace_id = $1 AND name = $2';
      await rows(db, sql, [workspaceId, name, bytes, key]);
    }
    return { rows: batch, closed };
  }

  private async unneeded(key: string): Promise<string[]> {
    const used = await rows<{ key_id: string }>(this.dataSource, 'SELECT DISTINCT key_id FROM secrets');
    const needed = new Set([key, ...used.map(({ key_id }) => key_id)]);
    return this.sealer.keyIds.filter((id) => !needed.has(id));
  }
}
