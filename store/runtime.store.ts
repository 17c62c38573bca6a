import type { DataSource } from 'typeorm';
import { type Envelope, RuntimeSpec } from '../contracts/runtime.js';
import { compareVersions } from '../policy/versions.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { type ChangedLimits, followLatest, poolIdOf, refuseKindOfOthers } from './pool-limits.js';
import { type Registrant, type Registration, register, withDifferences } from './registration.js';
import { type KnownVersion, parseRef, resolveVersion } from './spec-ref.js';
import { row, transaction } from './sql.js';

export interface RegisteredRuntime extends KnownVersion {
  spec: RuntimeSpec;
  poolId: string;
  /** The limits in force, which are those of the latest version; of one that is not confirmed, once it is. */
  envelope: Envelope;
  createdAt: Date;
}

export type RuntimeRegistration = Registration & { limits?: ChangedLimits };

interface RuntimeRow extends DemandRow {
  content: unknown;
  created_at: Date;
  slots: number;
  pool_slots: number | null;
  pool_memory_mb: number | null;
  pool_cpu_millicores: number | null;
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
    const known = await resolveVersion(this.dataSource, 'runtimes', workspaceId, parseRef(ref));
    if (!known) return undefined;
    const found = await row<RuntimeRow>(
      this.dataSource,
      `SELECT r.content, r.created_at, r.slots, r.memory_mb, r.cpu_millicores, p.slots AS pool_slots,
         p.memory_mb AS pool_memory_mb, p.cpu_millicores AS pool_cpu_millicores
       FROM runtimes r LEFT JOIN pools p ON p.workspace_id = r.workspace_id AND p.runtime_id = r.id WHERE r.pk = $1`,
      [known.pk],
    );
    if (!found) return undefined;
    const spec = RuntimeSpec.parse(found.content);
    const isInForce = found.pool_slots !== null && (known.isConfirmed || !(await this.wouldBeLatest(known, spec.id)));
    return {
      ...known,
      spec,
      poolId: poolIdOf(known.owner, spec.id),
      envelope: isInForce ? poolEnvelope(found) : { slots: found.slots, ...demandOfRow(found) },
      createdAt: found.created_at,
    };
  }

  private async wouldBeLatest(known: KnownVersion, id: string): Promise<boolean> {
    const latest = await resolveVersion(this.dataSource, 'runtimes', known.owner, { id });
    return !known.isDeprecated && (latest?.owner !== known.owner || compareVersions(known, latest) > 0);
  }
}

const poolEnvelope = (found: RuntimeRow): Envelope => ({
  slots: found.pool_slots ?? found.slots,
  ...demandOfRow({ memory_mb: found.pool_memory_mb, cpu_millicores: found.pool_cpu_millicores }),
});
