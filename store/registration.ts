import type { z } from 'zod';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { SpecFolder } from '../contracts/registration.js';
import { differences } from '../policy/differences.js';
import { noteAudit } from './audit-draft.js';
import { isVisible, type SpecName } from './spec-ref.js';
import { affected, type Queryable, row } from './sql.js';

/** Who registers. What somebody registers who may not confirm is there to be looked at, and changes nothing for others. */
export interface Registrant {
  subject: string;
  mayConfirm: boolean;
}

/**
 * What became of a registration. Versions are immutable: the same content again is `unchanged`, or `confirmed` where it
 * was not and the registrant may confirm. Other content is a `conflict`.
 */
export interface Registration {
  kind: 'inserted' | 'unchanged' | 'confirmed' | 'conflict';
  /** Of the version that now has the name. */
  pk: number;
  isConfirmed: boolean;
  /** Where the content of a conflict is another. */
  differs?: string[];
}

export interface Entry extends SpecName {
  workspaceId: string;
  hash: string;
  by: Registrant;
  /** The other columns of this kind, by name. */
  columns: Readonly<Record<string, unknown>>;
  /** At first, until they are replaced. */
  tags: readonly string[];
}

interface Standing {
  pk: number;
  content_hash: string;
  is_confirmed: boolean;
}

/**
 * Inserts a version, in the caller's transaction. What nobody confirmed gives way to other content of somebody who may
 * confirm, so that nobody can keep a name from those who would use it.
 */
export async function register(db: Queryable, table: SpecFolder, entry: Entry): Promise<Registration> {
  const { hash, by } = entry;
  const shared = by.mayConfirm ? undefined : await sharedStanding(db, table, entry);
  if (shared) return compared(shared, hash);
  for (;;) {
    const inserted = await insertEntry(db, table, entry);
    if (inserted !== undefined) return { kind: 'inserted', pk: inserted, isConfirmed: by.mayConfirm };
    const known = await row<Standing>(
      db,
      `SELECT pk, content_hash, confirmed_at IS NOT NULL AS is_confirmed FROM ${table}
       WHERE workspace_id = $1 AND id = $2 AND version = $3`,
      [entry.workspaceId, entry.id, entry.version],
    );
    if (!known) continue;
    if (known.is_confirmed || !by.mayConfirm) return compared(known, hash);
    const { pk } = known;
    noteAudit({ before: known.content_hash, after: hash });
    if (known.content_hash !== hash) {
      await affected(db, `DELETE FROM ${table} WHERE pk = $1 AND confirmed_at IS NULL`, [pk]);
    } else if (await confirmVersion(db, table, { pk, hash }, by.subject)) {
      return { kind: 'confirmed', pk, isConfirmed: true };
    }
  }
}

function compared({ pk, content_hash: known, is_confirmed: isConfirmed }: Standing, hash: string): Registration {
  noteAudit({ before: known, after: known });
  return { kind: known === hash ? 'unchanged' : 'conflict', pk, isConfirmed };
}

/** The shared version that the workspace means by this name, and goes on to mean until it has one of its own. */
function sharedStanding(db: Queryable, table: SpecFolder, entry: Entry): Promise<Standing | undefined> {
  return row<Standing>(
    db,
    `SELECT pk, content_hash, true AS is_confirmed FROM ${table} t
     WHERE t.workspace_id = '${SHARED_WORKSPACE}' AND t.id = $2 AND t.version = $3 AND ${isVisible(table)}`,
    [entry.workspaceId, entry.id, entry.version],
  );
}

async function insertEntry(db: Queryable, table: SpecFolder, entry: Entry): Promise<number | undefined> {
  const { workspaceId, id, version, hash, by, tags } = entry;
  const columns = {
    workspace_id: workspaceId,
    id,
    version,
    content_hash: hash,
    version_tags: tags,
    registered_by: by.subject,
    ...entry.columns,
  };
  const names = Object.keys(columns);
  const values = names.map((_name, index) => `$${index + 1}`);
  const confirmed = by.mayConfirm ? ['now()', '$6'] : ['NULL', 'NULL'];
  const inserted = await row<{ pk: number }>(
    db,
    `INSERT INTO ${table} (${names.join(', ')}, confirmed_at, confirmed_by) OVERRIDING SYSTEM VALUE
     VALUES (${[...values, ...confirmed].join(', ')}) ON CONFLICT DO NOTHING RETURNING pk`,
    Object.values(columns),
  );
  return inserted?.pk;
}

/** Whether the version is still what it was, and confirmed now. Who confirmed it first stays. */
export async function confirmVersion(
  db: Queryable,
  table: SpecFolder,
  { pk, hash }: { pk: number; hash: string },
  subject: string,
): Promise<boolean> {
  const sql = `UPDATE ${table} SET confirmed_at = coalesce(confirmed_at, now()), confirmed_by = coalesce(confirmed_by, $3)
    WHERE pk = $1 AND content_hash = $2`;
  return (await affected(db, sql, [pk, hash, subject])) > 0;
}

/**
 * Says where the content differs from the one that is registered under the same name. That is none where it was stored
 * before a default came to be that both have now.
 */
export async function withDifferences(
  db: Queryable,
  table: Exclude<SpecFolder, 'datasets'>,
  { spec, schema }: { spec: object; schema: z.ZodType },
  registration: Registration,
): Promise<Registration> {
  if (registration.kind !== 'conflict') return registration;
  const known = await row<{ content: unknown }>(db, `SELECT content FROM ${table} WHERE pk = $1`, [registration.pk]);
  const differs = differences(schema.parse(known?.content), spec);
  return differs.length > 0 ? { ...registration, differs } : { ...registration, kind: 'unchanged' };
}
