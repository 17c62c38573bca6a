import type { DataSource } from 'typeorm';
import { type Envelope, RuntimeSpec } from '../contracts/runtime.js';
import { compareVersions, meantBy } from '../policy/versions.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { type ChangedLimits, followLatest, poolIdOf, refuseKindOfOthers } from './pool-limits.js';
import { type Registrant, type Registration, register, withDifferences } from './registration.js';
import { KNOWN, type KnownVersion, parseRef, resolvePk, versionsOf } from './spec-ref.js';
import { row, transaction } from './sql.js';

export interface RegisteredRuntime extends KnownVersion {
  spec: RuntimeSpec;
  poolId: string;
  /** The limits in force, which are those of the latest version; of one that is not confirmed, once it is. */
  envelope: Envelope;
  /** It takes no new work: until when, and why, as far as somebody said so. */
  drain?: { until?: Date; reason?: string };
  createdAt: Date;
}

export type RuntimeRegistration = Registration & { limits?: ChangedLimits };

interface RuntimeRow extends KnownVersion, DemandRow {
  content: unknown;
  created_at: Date;
  slots: number;
  pool_slots: number | null;
  pool_memory_mb: number | null;
  pool_cpu_millicores: number | null;
  is_draining: boolean;
  dial_until: Date | null;
  dial_reason: string | null;
}

export class RuntimeStore {
  constructor(private readonly dataSource: DataSource) {}

  /** `envelope`: the limits of this spec with its defaults filled in. They reach the pool if this version is the latest. */
  insert(workspaceId: string, spec: RuntimeSpec, envelope: Envelope, by: Registrant): Promise<RuntimeRegistration> {
    const { id, version, kind, tags } = spec;
    const columns = {
      kind,
      content: JSON.stringify(spec),
      slots: envelope.slots,
      memory_mb: envelope.memoryMb ?? null,
      cpu_millicores: envelope.cpuMillicores ?? null,
    };
    const entry = { workspaceId, id, version, tags, hash: contentHash(spec), by, columns };
    return transaction(this.dataSource, async (db) => {
      const registration = await withDifferences(
        db,
        'runtimes',
        { spec, schema: RuntimeSpec },
        await register(db, 'runtimes', entry),
      );
      if (registration.kind === 'conflict' || registration.kind === 'unchanged') return registration;
      if (!registration.isConfirmed) await refuseKindOfOthers(db, workspaceId, id, kind);
      const limits = registration.isConfirmed ? await followLatest(db, registration.pk) : undefined;
      if (registration.kind === 'inserted') await auditWithin(db, { object: `${id}@${version}`, after: entry.hash });
      return { ...registration, ...(limits && { limits }) };
    });
  }

  /** `ref`: `id` or `id@version`. */
  async find(workspaceId: string, ref: string): Promise<RegisteredRuntime | undefined> {
    const pk = await resolvePk(this.dataSource, 'runtimes', workspaceId, parseRef(ref));
    if (pk === undefined) return undefined;
    const found = await row<RuntimeRow>(
      this.dataSource,
      `SELECT ${KNOWN}, t.content, t.created_at, t.slots, t.memory_mb, t.cpu_millicores, p.slots AS pool_slots,
         p.memory_mb AS pool_memory_mb, p.cpu_millicores AS pool_cpu_millicores,
         coalesce(p.dial_mode = 'draining' AND coalesce(p.dial_until > now(), true), false) AS is_draining,
         p.dial_until, p.dial_reason
       FROM runtimes t LEFT JOIN pools p ON p.workspace_id = t.workspace_id AND p.runtime_id = t.id WHERE t.pk = $1`,
      [pk],
    );
    if (!found) return undefined;
    const {
      content,
      created_at,
      slots,
      memory_mb,
      cpu_millicores,
      pool_slots,
      pool_memory_mb,
      pool_cpu_millicores,
      is_draining,
      dial_until,
      dial_reason,
      ...known
    } = found;
    const isInForce = pool_slots !== null && (known.isConfirmed || !(await this.wouldBeLatest(known)));
    const caps = isInForce
      ? { memory_mb: pool_memory_mb, cpu_millicores: pool_cpu_millicores }
      : { memory_mb, cpu_millicores };
    return {
      ...known,
      spec: RuntimeSpec.parse(content),
      poolId: poolIdOf(known.owner, known.id),
      envelope: { slots: isInForce ? pool_slots : slots, ...demandOfRow(caps) },
      ...(is_draining && {
        drain: { ...(dial_until && { until: dial_until }), ...(dial_reason !== null && { reason: dial_reason }) },
      }),
      createdAt: created_at,
    };
  }

  private async wouldBeLatest(known: KnownVersion): Promise<boolean> {
    const versions = await versionsOf(this.dataSource, 'runtimes', known.owner, [known.id]);
    const latest = meantBy(versions.filter(({ owner }) => owner === known.owner));
    return !known.isDeprecated && (!latest || compareVersions(known, latest) > 0);
  }
}
