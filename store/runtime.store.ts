import type { DataSource } from 'typeorm';
import { PlatformError } from '../contracts/errors.js';
import { type Envelope, RuntimeSpec } from '../contracts/runtime.js';
import { latestOf } from '../policy/versions.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { compareRegistered, type Registration, resolvePk } from './spec-ref.js';
import { type Queryable, row, rows, transaction } from './sql.js';

export interface RegisteredRuntime {
  pk: number;
  spec: RuntimeSpec;
  poolId: string;
  contentHash: string;
  createdAt: Date;
}

export interface RuntimeRegistration {
  kind: Registration;
  poolId: string;
  /** Set when the limits of the pool changed: what the admission workflow is to be told. */
  envelopeVersion?: number;
}

interface RuntimeRow {
  pk: number;
  workspace_id: string;
  content: unknown;
  content_hash: string;
  created_at: Date;
}

/** One pool per runtime id, whatever its version: it is one cluster. */
export const poolIdOf = (workspaceId: string, runtimeId: string): string => `rt:${workspaceId}:${runtimeId}`;

const COLUMNS = 'pk, workspace_id, content, content_hash, created_at';

const toRuntime = (stored: RuntimeRow): RegisteredRuntime => {
  const spec = RuntimeSpec.parse(stored.content);
  return {
    pk: stored.pk,
    spec,
    poolId: poolIdOf(stored.workspace_id, spec.id),
    contentHash: stored.content_hash,
    createdAt: stored.created_at,
  };
};

export class RuntimeStore {
  constructor(private readonly dataSource: DataSource) {}

  /** `envelope`: the limits of this spec with its defaults filled in. They reach the pool if this version is the latest. */
  async insert(workspaceId: string, spec: RuntimeSpec, envelope: Envelope): Promise<RuntimeRegistration> {
    const poolId = poolIdOf(workspaceId, spec.id);
    const hash = contentHash(spec);
    return transaction(this.dataSource, async (db) => {
      const inserted = await rows(
        db,
        `INSERT INTO runtimes (workspace_id, id, version, kind, content, content_hash)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING pk`,
        [workspaceId, spec.id, spec.version, spec.kind, JSON.stringify(spec), hash],
      );
      if (inserted.length === 0) {
        return { kind: await compareRegistered(db, 'runtimes', workspaceId, spec, hash), poolId };
      }
      const envelopeVersion = await applyLimits(db, workspaceId, spec, envelope);
      await auditWithin(db, { object: `${spec.id}@${spec.version}`, after: hash });
      return { kind: 'inserted', poolId, envelopeVersion };
    });
  }

  async find(workspaceId: string, id: string, version?: string): Promise<RegisteredRuntime | undefined> {
    const wanted = { id, ...(version && version !== 'latest' ? { version } : {}) };
    const pk = await resolvePk(this.dataSource, 'runtimes', workspaceId, wanted);
    if (pk === undefined) return undefined;
    const found = await row<RuntimeRow>(this.dataSource, `SELECT ${COLUMNS} FROM runtimes WHERE pk = $1`, [pk]);
    return found && toRuntime(found);
  }

  /** Every registered version, by id and in the order of registration. */
  async list(workspaceId: string): Promise<RegisteredRuntime[]> {
    const sql = `SELECT ${COLUMNS} FROM runtimes WHERE workspace_id = $1 ORDER BY id COLLATE "C", pk`;
    return (await rows<RuntimeRow>(this.dataSource, sql, [workspaceId])).map(toRuntime);
  }
}

/**
 * Creates the pool, or moves its limits if `spec` is the latest version; returns their new version if they changed.
 * The pool's lock comes before the versions are read, so of two registrations the later one sees both.
 */
async function applyLimits(db: Queryable, workspaceId: string, spec: RuntimeSpec, envelope: Envelope) {
  const poolId = poolIdOf(workspaceId, spec.id);
  const limits = [envelope.slots, envelope.memoryMb ?? null, envelope.cpuMillicores ?? null];
  const created = await row<{ envelope_version: number }>(
    db,
    `INSERT INTO pools (id, workspace_id, runtime_id, kind, slots, memory_mb, cpu_millicores)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING envelope_version`,
    [poolId, workspaceId, spec.id, spec.kind, ...limits],
  );
  if (created) return created.envelope_version;
  const pool = await row<{ kind: string }>(db, 'SELECT kind FROM pools WHERE id = $1 FOR NO KEY UPDATE', [poolId]);
  if (pool && pool.kind !== spec.kind) {
    const message = `runtime ${spec.id} is of kind ${pool.kind} in all its versions: register ${spec.kind} under another id`;
    throw new PlatformError('CONFLICT', message);
  }
  const versions = await rows<{ version: string; registeredAt: number }>(
    db,
    'SELECT version, pk AS "registeredAt" FROM runtimes WHERE workspace_id = $1 AND id = $2',
    [workspaceId, spec.id],
  );
  if (latestOf(versions)?.version !== spec.version) return undefined;
  const changed = await row<{ envelope_version: number }>(
    db,
    `UPDATE pools SET slots = $2, memory_mb = $3, cpu_millicores = $4, envelope_version = envelope_version + 1
     WHERE id = $1 AND (slots, memory_mb, cpu_millicores) IS DISTINCT FROM ($2::int, $3::int, $4::int)
     RETURNING envelope_version`,
    [poolId, ...limits],
  );
  return changed?.envelope_version;
}
