import { latestOf } from '../policy/versions.js';
import { noteAudit } from './audit-draft.js';
import { type Queryable, row, rows } from './sql.js';

/** What became of a registration: versions are immutable, the same content again is accepted. */
export type Registration = 'inserted' | 'unchanged' | 'conflict';

type SpecTable = 'datasets' | 'harnesses' | 'runtimes';

/** Splits `id@version`; without a version, or with `latest`, there is none. */
export function parseRef(ref: string): { id: string; version?: string } {
  const at = ref.indexOf('@');
  if (at < 0) return { id: ref };
  const version = ref.slice(at + 1);
  return { id: ref.slice(0, at), ...(version === 'latest' ? {} : { version }) };
}

/** Key of the registered row that a reference means. */
export async function resolvePk(
  db: Queryable,
  table: SpecTable,
  workspaceId: string,
  { id, version }: { id: string; version?: string },
): Promise<number | undefined> {
  const registered = await rows<{ pk: number; version: string }>(
    db,
    `SELECT pk, version FROM ${table} WHERE workspace_id = $1 AND id = $2 AND ($3::text IS NULL OR version = $3)`,
    [workspaceId, id, version ?? null],
  );
  return latestOf(registered.map((spec) => ({ ...spec, registeredAt: spec.pk })))?.pk;
}

/** After an insert that hit a registered version: whether that one has the same content. */
export async function compareRegistered(
  db: Queryable,
  table: SpecTable,
  workspaceId: string,
  spec: { id: string; version: string },
  hash: string,
): Promise<Exclude<Registration, 'inserted'>> {
  const found = await row<{ content_hash: string }>(
    db,
    `SELECT content_hash FROM ${table} WHERE workspace_id = $1 AND id = $2 AND version = $3`,
    [workspaceId, spec.id, spec.version],
  );
  noteAudit({ before: found?.content_hash, after: found?.content_hash });
  return found?.content_hash === hash ? 'unchanged' : 'conflict';
}
