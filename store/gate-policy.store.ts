import type { DataSource } from 'typeorm';
import { GatePolicy, type RegisteredPolicy } from '../contracts/gate.js';
import { differences } from '../policy/differences.js';
import { latestOf } from '../policy/versions.js';
import { auditWithin, noteAudit } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import type { Registration } from './registration.js';
import { parseRef } from './spec-ref.js';
import { type Queryable, row, rows, transaction } from './sql.js';

interface PolicyRow {
  pk: number;
  content: unknown;
  content_hash: string;
}

interface ListedRow {
  pk: number;
  id: string;
  version: string;
  description: string | null;
  tags: string[] | null;
  content_hash: string;
  registered_by: string;
  created_at: Date;
}

/** A registered policy, and the position of a list after it. */
export interface ListedPolicy {
  policy: RegisteredPolicy;
  position: readonly [string, number];
}

export interface PolicyFilter {
  id?: string;
  /** Position of the last one before. */
  after?: readonly [string, number];
  limit: number;
}

/** Versions of gate policies. */
export class GatePolicyStore {
  constructor(private readonly dataSource: DataSource) {}

  insert(workspaceId: string, policy: GatePolicy, by: string): Promise<Registration> {
    const { id, version } = policy;
    const hash = contentHash(policy);
    return transaction(this.dataSource, async (db) => {
      const inserted = await row<{ pk: number }>(
        db,
        `INSERT INTO gate_policies (workspace_id, id, version, content, content_hash, registered_by)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING pk`,
        [workspaceId, id, version, JSON.stringify(policy), hash, by],
      );
      if (!inserted) return known(db, workspaceId, policy, hash);
      await auditWithin(db, { object: `${id}@${version}`, after: hash });
      return { kind: 'inserted', pk: inserted.pk, isConfirmed: true };
    });
  }

  /** `ref`: `id` or `id@version`. */
  async find(workspaceId: string, ref: string): Promise<GatePolicy | undefined> {
    const { id, version } = parseRef(ref);
    const versions = await this.versions(workspaceId, [id]);
    const meant = version === undefined ? latestOf(versions) : versions.find((each) => each.version === version);
    if (!meant) return undefined;
    const found = await row<PolicyRow>(this.dataSource, 'SELECT content FROM gate_policies WHERE pk = $1', [meant.pk]);
    return found && GatePolicy.parse(found.content);
  }

  /** By id and in the order of registration. */
  async list(workspaceId: string, { id, after, limit }: PolicyFilter): Promise<ListedPolicy[]> {
    const found = await rows<ListedRow>(
      this.dataSource,
      `SELECT pk, id, version, content ->> 'description' AS description, content -> 'tags' AS tags, content_hash,
         registered_by, created_at FROM gate_policies
       WHERE workspace_id = $1 AND ($2::text IS NULL OR id = $2)
         AND ($3::text IS NULL OR (id COLLATE "C", pk) > ($3, $4::bigint))
       ORDER BY id COLLATE "C", pk LIMIT $5`,
      [workspaceId, id ?? null, after?.[0] ?? null, after?.[1] ?? null, limit],
    );
    const versions = await this.versions(workspaceId, [...new Set(found.map((listed) => listed.id))]);
    const latest = new Set(versions.map((one) => latestOf(versions.filter((each) => each.id === one.id))?.pk));
    return found.map(({ pk, content_hash, registered_by, created_at, description, tags, ...named }) => ({
      policy: {
        ...named,
        ...(description !== null && { description }),
        tags: tags ?? [],
        latest: latest.has(pk),
        contentHash: content_hash,
        registeredBy: registered_by,
        createdAt: created_at.toISOString(),
      },
      position: [named.id, pk],
    }));
  }

  async ids(workspaceId: string): Promise<string[]> {
    const sql = 'SELECT DISTINCT id FROM gate_policies WHERE workspace_id = $1';
    return (await rows<{ id: string }>(this.dataSource, sql, [workspaceId])).map(({ id }) => id);
  }

  private versions(workspaceId: string, ids: readonly string[]) {
    return rows<{ pk: number; id: string; version: string; registeredAt: number }>(
      this.dataSource,
      `SELECT pk, id, version, pk AS "registeredAt" FROM gate_policies WHERE workspace_id = $1 AND id = ANY ($2)`,
      [workspaceId, ids],
    );
  }
}

/** Versions are immutable. One that was stored before a default came to be that both have now is the same. */
async function known(db: Queryable, workspaceId: string, policy: GatePolicy, hash: string): Promise<Registration> {
  const found = await row<PolicyRow>(
    db,
    'SELECT pk, content, content_hash FROM gate_policies WHERE workspace_id = $1 AND id = $2 AND version = $3',
    [workspaceId, policy.id, policy.version],
  );
  noteAudit({ before: found?.content_hash, after: found?.content_hash });
  const standing = { pk: found?.pk ?? 0, isConfirmed: true };
  const differs = found?.content_hash === hash ? [] : differences(GatePolicy.parse(found?.content), policy);
  return differs.length > 0 ? { ...standing, kind: 'conflict', differs } : { ...standing, kind: 'unchanged' };
}
