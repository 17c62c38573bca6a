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

/** Those who can log in: a member has done so before, or is a key of another workspace. */
const ADMINS = `
  SELECT 'key:' || k.id AS subject, k.workspace_id FROM api_keys k
  WHERE k.role = 'admin' AND k.scope = 'admin' AND ${isLiveKey('k')}
  UNION ALL
  SELECT m.subject, m.workspace_id FROM members m LEFT JOIN api_keys k ON m.subject = 'key:' || k.id
  WHERE m.role = 'admin' AND CASE WHEN m.subject LIKE 'key:%'
    THEN k.scope = 'admin' AND ${isLiveKey('k')} ELSE m.accepted_at IS NOT NULL END`;

async function hasAdmin(db: Queryable, workspaceId: string): Promise<boolean> {
  const sql = `SELECT 1 FROM (${ADMINS}) a WHERE workspace_id = $1 LIMIT 1`;
  return (await row(db, sql, [workspaceId])) !== undefined;
}

/** Subjects that stand above the admins of a workspace. */
const ABOVE = ['operator', 'local'];

/** Does what only an admin may, if `subject` is one still: whoever is removed at the same time comes before or after. */
export const asAdmin = <T>(
  dataSource: DataSource,
  workspaceId: string,
  subject: string,
  work: (db: Queryable) => Promise<T>,
): Promise<T> =>
  lockWorkspace(dataSource, workspaceId, async (db) => {
    const sql = `SELECT 1 FROM (${ADMINS}) a WHERE workspace_id = $1 AND subject = $2`;
    if (ABOVE.includes(subject) || (await row(db, sql, [workspaceId, subject]))) return work(db);
    throw new PlatformError('FORBIDDEN', `${subject} is no admin of workspace ${workspaceId} any more`);
  });
