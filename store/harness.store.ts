import type { DataSource } from 'typeorm';
import { HarnessSpec } from '../contracts/harness.js';
import { noteAudit } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { compareRegistered, parseRef, type Registration, resolvePk } from './spec-ref.js';
import { row, rows } from './sql.js';

export interface RegisteredHarness {
  pk: number;
  spec: HarnessSpec;
  contentHash: string;
  createdAt: Date;
}

interface HarnessRow {
  pk: number;
  content: unknown;
  content_hash: string;
  created_at: Date;
}

const COLUMNS = 'pk, content, content_hash, created_at';

const toHarness = ({ pk, content, content_hash, created_at }: HarnessRow): RegisteredHarness => ({
  pk,
  spec: HarnessSpec.parse(content),
  contentHash: content_hash,
  createdAt: created_at,
});

export class HarnessStore {
  constructor(private readonly dataSource: DataSource) {}

  async insert(workspaceId: string, spec: HarnessSpec): Promise<Registration> {
    const hash = contentHash(spec);
    const inserted = await rows(
      this.dataSource,
      `INSERT INTO harnesses (workspace_id, id, version, content, content_hash)
       VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING pk`,
      [workspaceId, spec.id, spec.version, JSON.stringify(spec), hash],
    );
    if (inserted.length > 0) {
      noteAudit({ after: hash });
      return 'inserted';
    }
    return compareRegistered(this.dataSource, 'harnesses', workspaceId, spec, hash);
  }

  /** `ref`: `id` or `id@version`. */
  async find(workspaceId: string, ref: string): Promise<RegisteredHarness | undefined> {
    const pk = await resolvePk(this.dataSource, 'harnesses', workspaceId, parseRef(ref));
    if (pk === undefined) return undefined;
    const found = await row<HarnessRow>(this.dataSource, `SELECT ${COLUMNS} FROM harnesses WHERE pk = $1`, [pk]);
    return found && toHarness(found);
  }

  /** Every registered version, by id and in the order of registration. */
  async list(workspaceId: string): Promise<RegisteredHarness[]> {
    const sql = `SELECT ${COLUMNS} FROM harnesses WHERE workspace_id = $1 ORDER BY id COLLATE "C", pk`;
    return (await rows<HarnessRow>(this.dataSource, sql, [workspaceId])).map(toHarness);
  }
}
