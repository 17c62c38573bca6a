import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { SpecFolder } from '../contracts/registration.js';
import { meantBy, type VersionStanding } from '../policy/versions.js';
import { type Queryable, rows } from './sql.js';

export interface SpecName {
  id: string;
  version: string;
}

/** A registered version, before its content is read. Its key rises with every registration. */
export interface KnownVersion extends VersionStanding {
  pk: number;
  id: string;
  contentHash: string;
  /** The workspace that registered it, or the shared one. */
  owner: string;
  deprecatedReason: string | null;
}

/** Splits `id@version`; without a version, or with `latest`, there is none. */
export function parseRef(ref: string): { id: string; version?: string } {
  const at = ref.indexOf('@');
  if (at < 0) return { id: ref };
  const version = ref.slice(at + 1);
  return { id: ref.slice(0, at), ...(version === 'latest' ? {} : { version }) };
}

/**
 * Condition on a row `t`: workspace $1 sees all of its own, and what is shared under every id of which it has no version
 * itself. One that is not confirmed hides nothing, and is seen by its owner alone.
 */
export const isVisible = (table: SpecFolder): string => `(t.workspace_id = $1
  OR t.workspace_id = '${SHARED_WORKSPACE}' AND t.confirmed_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM ${table} own WHERE own.workspace_id = $1 AND own.id = t.id AND own.confirmed_at IS NOT NULL))`;

/** Columns of a row `t` that make a `KnownVersion`. */
export const KNOWN = `t.pk, t.id, t.version, t.pk AS "registeredAt", t.workspace_id AS owner, t.content_hash AS "contentHash",
  t.confirmed_at IS NOT NULL AS "isConfirmed", t.deprecated_at IS NOT NULL AS "isDeprecated",
  t.deprecated_reason AS "deprecatedReason"`;

/** The versions of some ids that a workspace sees. */
export function versionsOf(
  db: Queryable,
  table: SpecFolder,
  workspaceId: string,
  ids: readonly string[],
): Promise<KnownVersion[]> {
  return rows<KnownVersion>(
    db,
    `SELECT ${KNOWN} FROM ${table} t
     WHERE t.workspace_id = ANY (ARRAY[$1, '${SHARED_WORKSPACE}']) AND t.id = ANY ($2) AND ${isVisible(table)}`,
    [workspaceId, ids],
  );
}

/** Key of the registered version that a reference means. Reads of each version no more than it takes to choose. */
export async function resolvePk(
  db: Queryable,
  table: SpecFolder,
  workspaceId: string,
  { id, version }: { id: string; version?: string },
): Promise<number | undefined> {
  const found = await rows<{ pk: number; version: string; isConfirmed: boolean }>(
    db,
    `SELECT t.pk, t.version, t.confirmed_at IS NOT NULL AS "isConfirmed" FROM ${table} t
     WHERE t.workspace_id = ANY (ARRAY[$1, '${SHARED_WORKSPACE}']) AND t.id = $2
       AND (t.version = $3 OR $3::text IS NULL AND t.confirmed_at IS NOT NULL AND t.deprecated_at IS NULL)
       AND ${isVisible(table)}`,
    [workspaceId, id, version ?? null],
  );
  const versions = found.map((each) => ({ ...each, registeredAt: each.pk, isDeprecated: false }));
  return meantBy(versions, version)?.pk;
}
