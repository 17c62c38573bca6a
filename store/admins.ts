import type { DataSource } from 'typeorm';
import { PlatformError } from '../contracts/errors.js';
import { type Queryable, row, rows, transaction } from './sql.js';

/** SQL: whether the key of this alias works. */
export const isLiveKey = (key: string): string =>
  `(${key}.revoked_at IS NULL AND (${key}.expires_at IS NULL OR ${key}.expires_at > now()))`;

/** Runs `work` alone in its workspace, as far as keys and members go. */
export const lockWorkspace = <T>(
  dataSource: DataSource,
  workspaceId: string,
  work: (db: Queryable) => Promise<T>,
): Promise<T> =>
  transaction(dataSource, async (db) => {
    await rows(db, 'SELECT 1 FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [workspaceId]);
    return work(db);
  });

/** Does what may take an admin away. Refuses, and nothing is done, where nobody could administer afterwards. */
export function keepingAnAdmin<T>(
  dataSource: DataSource,
  workspaceId: string,
  isForced: boolean,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  return lockWorkspace(dataSource, workspaceId, async (db) => {
    const hadAdmin = await hasAdmin(db, workspaceId);
    const result = await work(db);
    if (isForced || !hadAdmin || (await hasAdmin(db, workspaceId))) return result;
    throw new PlatformError(
      'CONFLICT',
      `that would leave workspace ${workspaceId} without an admin: make another one first, or say so with ?force=true; ` +
        'then only the operator key can make one',
    );
  });
}

async function hasAdmin(db: Queryable, workspaceId: string): Promise<boolean> {
  const found = await row(
    db,
    `SELECT 1 FROM api_keys k
     WHERE k.workspace_id = $1 AND k.role = 'admin' AND k.scope = 'admin' AND ${isLiveKey('k')}
     UNION ALL
     SELECT 1 FROM members m LEFT JOIN api_keys k ON m.subject = 'key:' || k.id
     WHERE m.workspace_id = $1 AND m.role = 'admin'
       AND (m.subject NOT LIKE 'key:%' OR (k.scope = 'admin' AND ${isLiveKey('k')}))
     LIMIT 1`,
    [workspaceId],
  );
  return found !== undefined;
}
