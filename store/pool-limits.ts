import { PlatformError } from '../contracts/errors.js';
import { latestOf } from '../policy/versions.js';
import { type Queryable, row, rows } from './sql.js';

/** The limits of a pool changed: what its admission workflow is to be told. */
export interface ChangedLimits {
  poolId: string;
  envelopeVersion: number;
}

/** One pool per runtime id, whatever its version: it is one cluster, also for those who share it. */
export const poolIdOf = (owner: string, runtimeId: string): string => `rt:${owner}:${runtimeId}`;

/**
 * Brings the limits of a pool in line after its version `pk` was registered, confirmed, deprecated or restored: they are
 * those of the latest; where every version is deprecated, they stay. The first version that is confirmed makes the pool.
 * The pool's lock comes before the versions are read, so of two changes the later one sees both.
 */
export async function followLatest(db: Queryable, pk: number): Promise<ChangedLimits | undefined> {
  const changed = await row<{ owner: string; id: string; kind: string }>(
    db,
    'SELECT workspace_id AS owner, id, kind FROM runtimes WHERE pk = $1',
    [pk],
  );
  if (!changed) return undefined;
  const { owner, id, kind } = changed;
  const poolId = poolIdOf(owner, id);
  const created = await row<{ envelope_version: number }>(
    db,
    `INSERT INTO pools (id, workspace_id, runtime_id, kind, slots, memory_mb, cpu_millicores)
     SELECT $2, workspace_id, id, kind, slots, memory_mb, cpu_millicores FROM runtimes WHERE pk = $1
     ON CONFLICT DO NOTHING RETURNING envelope_version`,
    [pk, poolId],
  );
  const pool = await row<{ kind: string }>(db, 'SELECT kind FROM pools WHERE id = $1 FOR NO KEY UPDATE', [poolId]);
  if (pool) refuseOtherKind(id, kind, pool.kind);
  const versions = await rows<{ version: string; registeredAt: number }>(
    db,
    `SELECT version, pk AS "registeredAt" FROM runtimes
     WHERE workspace_id = $1 AND id = $2 AND confirmed_at IS NOT NULL AND deprecated_at IS NULL`,
    [owner, id],
  );
  const moved = await row<{ envelope_version: number }>(
    db,
    `UPDATE pools p SET slots = r.slots, memory_mb = r.memory_mb, cpu_millicores = r.cpu_millicores,
       envelope_version = p.envelope_version + 1, limits_at = now()
     FROM runtimes r WHERE p.id = $1 AND r.pk = $2 AND r.slots IS NOT NULL
       AND (p.slots, p.memory_mb, p.cpu_millicores) IS DISTINCT FROM (r.slots, r.memory_mb, r.cpu_millicores)
     RETURNING p.envelope_version`,
    [poolId, latestOf(versions)?.registeredAt ?? null],
  );
  const envelopeVersion = (moved ?? created)?.envelope_version;
  return envelopeVersion === undefined ? undefined : { poolId, envelopeVersion };
}

/** All versions of a runtime id are of one kind. Refuses early what could never be confirmed. */
export async function refuseKindOfOthers(db: Queryable, owner: string, id: string, kind: string): Promise<void> {
  const pool = await row<{ kind: string }>(db, 'SELECT kind FROM pools WHERE id = $1', [poolIdOf(owner, id)]);
  if (pool) refuseOtherKind(id, kind, pool.kind);
}

function refuseOtherKind(id: string, kind: string, known: string): void {
  if (kind === known) return;
  const message = `runtime ${id} is of kind ${known} in all its versions: register ${kind} under another id`;
  throw new PlatformError('CONFLICT', message, {
    errors: [{ path: 'kind', message: `is ${known} in every version of ${id}` }],
  });
}
