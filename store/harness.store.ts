import type { DataSource } from 'typeorm';
import { HarnessSpec } from '../contracts/harness.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { type Registrant, type Registration, register, withDifferences } from './registration.js';
import { type KnownVersion, parseRef, resolveVersion } from './spec-ref.js';
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
    const known = await resolveVersion(this.dataSource, 'harnesses', workspaceId, parseRef(ref));
    if (!known) return undefined;
    const found = await row<{ content: unknown; created_at: Date }>(
      this.dataSource,
      'SELECT content, created_at FROM harnesses WHERE pk = $1',
      [known.pk],
    );
    return found && { ...known, spec: HarnessSpec.parse(found.content), createdAt: found.created_at };
  }
}
