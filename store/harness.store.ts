import type { DataSource } from 'typeorm';
import { HarnessSpec } from '../contracts/harness.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { type Registrant, type Registration, register, withDifferences } from './registration.js';
import { KNOWN, type KnownVersion, parseRef, resolvePk } from './spec-ref.js';
import { row, transaction } from './sql.js';

export interface RegisteredHarness extends KnownVersion {
  spec: HarnessSpec;
  createdAt: Date;
}

export class HarnessStore {
  constructor(private readonly dataSource: DataSource) {}

  insert(workspaceId: string, spec: HarnessSpec, by: Registrant): Promise<Registration> {
    const { id, version, tags } = spec;
    const columns = { content: JSON.stringify(spec) };
    const entry = { workspaceId, id, version, tags, hash: contentHash(spec), by, columns };
    return transaction(this.dataSource, async (db) => {
      const registration = await withDifferences(
        db,
        'harnesses',
        { spec, schema: HarnessSpec },
        await register(db, 'harnesses', entry),
      );
      if (registration.kind === 'inserted') await auditWithin(db, { object: `${id}@${version}`, after: entry.hash });
      return registration;
    });
  }

  /** `ref`: `id` or `id@version`. */
  async find(workspaceId: string, ref: string): Promise<RegisteredHarness | undefined> {
    const pk = await resolvePk(this.dataSource, 'harnesses', workspaceId, parseRef(ref));
    if (pk === undefined) return undefined;
    const found = await row<KnownVersion & { content: unknown; createdAt: Date }>(
      this.dataSource,
      `SELECT ${KNOWN}, t.content, t.created_at AS "createdAt" FROM harnesses t WHERE t.pk = $1`,
      [pk],
    );
    if (!found) return undefined;
    const { content, ...known } = found;
    return { ...known, spec: HarnessSpec.parse(content) };
  }
}
