import type { DataSource } from 'typeorm';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { SpecFolder, VersionRecord } from '../contracts/registration.js';
import { meantBy } from '../policy/versions.js';
import { type ChangedLimits, followLatest } from './pool-limits.js';
import { isVisible, type KnownVersion, type SpecName, versionsOf } from './spec-ref.js';
import { type Queryable, row, rows, transaction } from './sql.js';

/** A registered version as lists show it. */
export interface ListedVersion {
  pk: number;
  id: string;
  /** What was registered; of a dataset, what describes it. */
  content: object;
  record: VersionRecord;
}

export interface ListFilter {
  id?: string;
  tag?: string;
  /** Id and key of the last one before. */
  after?: readonly [string, number];
  limit: number;
}

export interface Changed {
  version: ListedVersion;
  /** Set when the limits of a pool changed with it. */
  limits?: ChangedLimits;
}

interface ListedRow {
  pk: number;
  id: string;
  version: string;
  content: object;
  owner: string;
  version_tags: string[];
  registered_by: string;
  confirmed_at: Date | null;
  confirmed_by: string | null;
  deprecated_at: Date | null;
  deprecated_by: string | null;
  deprecated_reason: string | null;
  created_at: Date;
  content_hash: string;
}

const CONTENT: Record<SpecFolder, string> = {
  harnesses: 't.content',
  runtimes: 't.content',
  datasets: `jsonb_strip_nulls(jsonb_build_object(
    'id', t.id, 'version', t.version, 'description', t.description, 'caseCount', t.case_count))`,
};

const listedColumns = (table: SpecFolder): string => `t.pk, t.id, t.version, ${CONTENT[table]} AS content,
  t.workspace_id AS owner, t.version_tags, t.registered_by, t.confirmed_at, t.confirmed_by, t.deprecated_at,
  t.deprecated_by, t.deprecated_reason, t.created_at, t.content_hash`;

/** What is the same for everything that is registered: what is said of versions, and how they are listed. */
export class RegistryStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Versions that the workspace sees, by id and in the order of registration. */
  async list(table: SpecFolder, workspaceId: string, filter: ListFilter): Promise<ListedVersion[]> {
    const { id, tag, after, limit } = filter;
    const found = await rows<ListedRow>(
      this.dataSource,
      `SELECT ${listedColumns(table)} FROM ${table} t
       WHERE t.workspace_id = ANY (ARRAY[$1, '${SHARED_WORKSPACE}']) AND ${isVisible(table)}
         AND ($2::text IS NULL OR t.id = $2) AND ($3::text IS NULL OR $3 = ANY (t.version_tags))
         AND ($4::text IS NULL OR (t.id COLLATE "C", t.pk) > ($4, $5::bigint))
       ORDER BY t.id COLLATE "C", t.pk LIMIT $6`,
      [workspaceId, id ?? null, tag ?? null, after?.[0] ?? null, after?.[1] ?? null, limit],
    );
    return this.withLatest(this.dataSource, table, workspaceId, found);
  }

  /** All that the workspace sees of an id, to say why a reference means none of it. */
  versions(table: SpecFolder, workspaceId: string, id: string): Promise<KnownVersion[]> {
    return versionsOf(this.dataSource, table, workspaceId, [id]);
  }

  async ids(table: SpecFolder, workspaceId: string): Promise<string[]> {
    const sql = `SELECT DISTINCT t.id FROM ${table} t
      WHERE t.workspace_id = ANY (ARRAY[$1, '${SHARED_WORKSPACE}']) AND ${isVisible(table)}`;
    return (await rows<{ id: string }>(this.dataSource, sql, [workspaceId])).map(({ id }) => id);
  }

  setTags(table: SpecFolder, workspaceId: string, name: SpecName, tags: readonly string[]) {
    return this.change(table, workspaceId, name, 'version_tags = $4', [tags]);
  }

  deprecate(table: SpecFolder, workspaceId: string, name: SpecName, by: string, reason: string | undefined) {
    const assignments = 'deprecated_at = now(), deprecated_by = $4, deprecated_reason = $5';
    return this.change(table, workspaceId, name, assignments, [by, reason ?? null]);
  }

  restore(table: SpecFolder, workspaceId: string, name: SpecName) {
    const assignments = 'deprecated_at = NULL, deprecated_by = NULL, deprecated_reason = NULL';
    return this.change(table, workspaceId, name, assignments, []);
  }

  /** Who confirmed it first stays. */
  confirm(table: SpecFolder, workspaceId: string, name: SpecName, by: string) {
    const assignments = 'confirmed_at = coalesce(confirmed_at, now()), confirmed_by = coalesce(confirmed_by, $4)';
    return this.change(table, workspaceId, name, assignments, [by]);
  }

  /** Changes what is said of a version of the workspace's own; the limits of its pool follow. */
  private change(
    table: SpecFolder,
    workspaceId: string,
    { id, version }: SpecName,
    assignments: string,
    params: readonly unknown[],
  ): Promise<Changed | undefined> {
    return transaction(this.dataSource, async (db) => {
      const changed = await row<ListedRow>(
        db,
        `UPDATE ${table} t SET ${assignments} WHERE t.workspace_id = $1 AND t.id = $2 AND t.version = $3
         RETURNING ${listedColumns(table)}`,
        [workspaceId, id, version, ...params],
      );
      if (!changed) return undefined;
      const isInPool = table === 'runtimes' && changed.confirmed_at !== null;
      const limits = isInPool ? await followLatest(db, changed.pk) : undefined;
      const [listed] = await this.withLatest(db, table, workspaceId, [changed]);
      return listed && { version: listed, ...(limits && { limits }) };
    });
  }

  private async withLatest(
    db: Queryable,
    table: SpecFolder,
    workspaceId: string,
    found: readonly ListedRow[],
  ): Promise<ListedVersion[]> {
    const ids = [...new Set(found.map(({ id }) => id))];
    const byId = new Map<string, KnownVersion[]>(ids.map((id) => [id, []]));
    for (const known of await versionsOf(db, table, workspaceId, ids)) byId.get(known.id)?.push(known);
    const latest = new Set([...byId.values()].map((versions) => meantBy(versions)?.pk));
    return found.map((each) => toListed(each, latest.has(each.pk)));
  }
}

const toListed = (found: ListedRow, isLatest: boolean): ListedVersion => ({
  pk: found.pk,
  id: found.id,
  content: found.content,
  record: {
    owner: found.owner,
    tags: found.version_tags,
    latest: isLatest,
    confirmed: found.confirmed_at !== null,
    confirmedBy: found.confirmed_by,
    confirmedAt: found.confirmed_at?.toISOString() ?? null,
    deprecated: found.deprecated_at !== null,
    deprecatedBy: found.deprecated_by,
    deprecatedReason: found.deprecated_reason,
    registeredBy: found.registered_by,
    createdAt: found.created_at.toISOString(),
    contentHash: found.content_hash,
  },
});
