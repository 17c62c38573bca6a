import type { DataSource } from 'typeorm';
import { type Envelope, RuntimeSpec } from '../contracts/runtime.js';
import { compareVersions, meantBy } from '../policy/versions.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { type ChangedLimits, followLatest, refuseKindOfOthers } from './pool-limits.js';
import { type Registrant, type Registration, register, withDifferences } from './registration.js';
import {
  type RegisteredRuntime,
  RUNTIME_COLUMNS,
  RUNTIME_TABLES,
  type RuntimeRow,
  registeredRuntime,
} from './runtime-row.js';
import { type KnownVersion, parseRef, resolvePk, versionsOf } from './spec-ref.js';
import { row, transaction } from './sql.js';

export type RuntimeRegistration = Registration & { limits?: ChangedLimits };

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
      `SELECT ${RUNTIME_COLUMNS} FROM ${RUNTIME_TABLES} WHERE t.pk = $1`,
      [pk],
    );
    if (!found) return undefined;
    return registeredRuntime(found, found.isConfirmed || !(await this.wouldBeLatest(found)));
  }

  private async wouldBeLatest(known: KnownVersion): Promise<boolean> {
    const versions = await versionsOf(this.dataSource, 'runtimes', known.owner, [known.id]);
    const latest = meantBy(versions.filter(({ owner }) => owner === known.owner));
    return !known.isDeprecated && (!latest || compareVersions(known, latest) > 0);
  }
}
