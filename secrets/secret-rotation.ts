import type { DataSource } from 'typeorm';
import type { Rotation } from '../contracts/secret.js';
import { type Queryable, rows, transaction } from '../store/sql.js';
import type { Sealer } from './sealer.js';

interface SealedRow {
  version: number;
  workspace_id: string;
  name: string;
  use: string;
  bindings: string[];
  sealed: Buffer;
  key_id: string;
}

type Unreadable = Rotation['unreadable'];

const BATCH = 100;
/** Values in force, and those that jobs may still print. */
const TABLES = ['secrets', 'replaced_secrets'] as const;
type Table = (typeof TABLES)[number];

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
    const inForce = await this.resealAll('secrets', key);
    await this.resealAll('replaced_secrets', key);
    return { key, ...inForce, unneeded: await this.unneeded(key) };
  }

  private async resealAll(table: Table, key: string): Promise<{ resealed: number; unreadable: Unreadable }> {
    const unreadable: Unreadable = [];
    let resealed = 0;
    for (let after = 0; ; ) {
      const batch = await transaction(this.dataSource, (db) => this.resealAfter(db, table, key, after));
      resealed += batch.rows.length - batch.closed.length;
      unreadable.push(...batch.closed);
      const last = batch.rows.at(-1);
      if (!last) return { resealed, unreadable };
      after = last.version;
    }
  }

  /** In the order of versions: a value that is set meanwhile has a higher one. */
  private async resealAfter(db: Queryable, table: Table, key: string, after: number) {
    const batch = await rows<SealedRow>(
      db,
      `SELECT version, workspace_id, name, use, bindings, sealed, key_id FROM ${table}
       WHERE key_id <> $1 AND version > $2 ORDER BY version LIMIT ${BATCH} FOR NO KEY UPDATE`,
      [key, after],
    );
    const closed: Unreadable = [];
    for (const { version, workspace_id: workspaceId, name, use, bindings, sealed, key_id: keyId } of batch) {
      const place = { workspaceId, name, use, bindings };
      const opened = this.sealer.open(place, { keyId, bytes: sealed });
      if (opened.kind === 'closed') {
        closed.push({ workspace: workspaceId, name, reason: opened.reason });
        continue;
      }
      const { bytes } = this.sealer.seal(place, opened.value);
      await rows(db, `UPDATE ${table} SET sealed = $2, key_id = $3 WHERE version = $1`, [version, bytes, key]);
    }
    return { rows: batch, closed };
  }

  private async unneeded(key: string): Promise<string[]> {
    const every = TABLES.map((table) => `SELECT key_id FROM ${table}`).join(' UNION ');
    const used = await rows<{ key_id: string }>(this.dataSource, every);
    const needed = new Set([key, ...used.map(({ key_id }) => key_id)]);
    return this.sealer.keyIds.filter((id) => !needed.has(id));
  }
}
