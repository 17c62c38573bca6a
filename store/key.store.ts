import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { KeyView } from '../contracts/access.js';
import type { Role, Scope } from '../contracts/identity.js';
import { asAdmin, isLiveKey, keepingAnAdmin, lockWorkspace } from './admins.js';
import { shortId } from './ids.js';
import { type Queryable, row, rows } from './sql.js';

interface KeyRow {
  id: string;
  seq: number;
  name: string;
  role: Role;
  scope: Scope;
  created_by: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
}

/** A key as it is shown, with its position in the list. */
export interface PositionedKey {
  seq: number;
  key: KeyView;
}

export interface NewApiKey {
  name: string;
  role: Role;
  scope: Scope;
  expiresAt?: Date;
  createdBy: string;
}

/** What a key in hand is worth. */
export interface KnownKey {
  id: string;
  workspaceId: string;
  role: Role;
  scope: Scope;
  hash: Uint8Array;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  isRevoked: boolean;
  isExpired: boolean;
}

const COLUMNS = 'id, seq, name, role, scope, created_by, created_at, expires_at, last_used_at, revoked_at';

const toKey = (stored: KeyRow): KeyView => ({
  id: stored.id,
  name: stored.name,
  role: stored.role,
  scope: stored.scope,
  createdBy: stored.created_by,
  createdAt: stored.created_at.toISOString(),
  expiresAt: stored.expires_at?.toISOString() ?? null,
  lastUsedAt: stored.last_used_at?.toISOString() ?? null,
  revokedAt: stored.revoked_at?.toISOString() ?? null,
});

/** What is stored of a key's value, which is random: no slow hash is needed. */
export const hashOfKey = (value: string): Buffer => createHash('sha256').update(value).digest();

export class KeyStore {
  constructor(private readonly dataSource: DataSource) {}

  create(workspaceId: string, key: NewApiKey, value: string): Promise<KeyView> {
    return asAdmin(this.dataSource, workspaceId, key.createdBy, (db) => insertKey(db, workspaceId, key, value));
  }

  /** Newest first; `after` is the position of the last one of the page before. */
  async list(workspaceId: string, { after, limit }: { after?: number; limit: number }): Promise<PositionedKey[]> {
    const found = await rows<KeyRow>(
      this.dataSource,
      `SELECT ${COLUMNS} FROM api_keys
       WHERE workspace_id = $1 AND ($2::bigint IS NULL OR seq < $2) ORDER BY seq DESC LIMIT $3`,
      [workspaceId, after ?? null, limit],
    );
    return found.map((stored) => ({ seq: stored.seq, key: toKey(stored) }));
  }

  /** The key with this value, also one that is no longer valid. */
  async byValue(value: string): Promise<KnownKey | undefined> {
    return row<KnownKey>(
      this.dataSource,
      `SELECT id, workspace_id AS "workspaceId", role, scope, hash, expires_at AS "expiresAt",
         last_used_at AS "lastUsedAt", revoked_at IS NOT NULL AS "isRevoked",
         coalesce(expires_at <= now(), false) AS "isExpired"
       FROM api_keys WHERE hash = $1`,
      [hashOfKey(value)],
    );
  }

  async find(id: string): Promise<{ workspaceId: string; expiresAt: Date | null } | undefined> {
    return row(
      this.dataSource,
      'SELECT workspace_id AS "workspaceId", expires_at AS "expiresAt" FROM api_keys WHERE id = $1',
      [id],
    );
  }

  async noteUse(id: string): Promise<void> {
    await rows(
      this.dataSource,
      `UPDATE api_keys SET last_used_at = now()
       WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [id],
    );
  }

  /** Revokes a key for good, and names those that were made with it. Undefined: there is no such key. */
  revoke(
    workspaceId: string,
    id: string,
    isForced: boolean,
  ): Promise<{ key: KeyView; stillValid: string[] } | undefined> {
    return keepingAnAdmin(this.dataSource, workspaceId, isForced, async (db) => {
      const revoked = await row<KeyRow>(
        db,
        `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE workspace_id = $1 AND id = $2
         RETURNING ${COLUMNS}`,
        [workspaceId, id],
      );
      if (!revoked) return undefined;
      const made = await rows<{ id: string }>(
        db,
        `SELECT id FROM api_keys k WHERE workspace_id = $1 AND created_by = $2 AND ${isLiveKey('k')} ORDER BY seq`,
        [workspaceId, `key:${id}`],
      );
      return { key: toKey(revoked), stillValid: made.map((key) => key.id) };
    });
  }

  /** Whether anybody was ever given a key: from then on everybody is asked for one. */
  async hasAny(): Promise<boolean> {
    return (await row(this.dataSource, 'SELECT 1 FROM api_keys LIMIT 1')) !== undefined;
  }

  /** The first key of a deployment, for an admin of `default`; undefined if there is a valid one for an admin. */
  async bootstrap(value: string): Promise<KeyView | undefined> {
    return lockWorkspace(this.dataSource, 'default', async (db) => {
      const sql = `SELECT 1 FROM api_keys k WHERE role = 'admin' AND scope = 'admin' AND ${isLiveKey('k')} LIMIT 1`;
      if (await row(db, sql)) return undefined;
      // One that was revoked does not come back.
      if (await row(db, 'SELECT 1 FROM api_keys WHERE hash = $1', [hashOfKey(value)])) return undefined;
      const first: NewApiKey = { name: 'bootstrap', role: 'admin', scope: 'admin', createdBy: 'operator' };
      return insertKey(db, 'default', first, value);
    });
  }
}

async function insertKey(db: Queryable, workspaceId: string, key: NewApiKey, value: string): Promise<KeyView> {
  const { name, role, scope, expiresAt, createdBy } = key;
  const inserted = await row<KeyRow>(
    db,
    `INSERT INTO api_keys (id, workspace_id, name, hash, role, scope, created_by, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
    [shortId(), workspaceId, name, hashOfKey(value), role, scope, createdBy, expiresAt ?? null],
  );
  if (!inserted) throw new Error('the key was not stored');
  return toKey(inserted);
}
