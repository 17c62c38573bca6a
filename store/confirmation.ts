import { PlatformError } from '../contracts/errors.js';
import type { SpecFolder } from '../contracts/registration.js';
import { type ChangedLimits, followLatest } from './pool-limits.js';
import { confirmVersion } from './registration.js';
import type { KnownVersion } from './spec-ref.js';
import { type Queryable, rows } from './sql.js';

/** Versions that nobody confirmed and that a submit names: they are confirmed with it. */
export interface Confirmation {
  versions: readonly { table: SpecFolder; version: KnownVersion }[];
  /** Who submits. */
  by: string;
}

const sorted = (versions: Confirmation['versions']) =>
  [...versions].sort((a, b) => (a.table === b.table ? a.version.pk - b.version.pk : a.table < b.table ? -1 : 1));

/** Confirms in the caller's transaction what was checked, or refuses it if it is no longer that. In the order of locks. */
export async function confirmNamed(
  db: Queryable,
  workspaceId: string,
  { versions, by }: Confirmation,
): Promise<ChangedLimits[]> {
  // What is submitted refers to it, which is too late once a pool is locked.
  await rows(db, 'SELECT FROM workspaces WHERE id = $1 FOR KEY SHARE', [workspaceId]);
  const limits: ChangedLimits[] = [];
  for (const { table, version } of sorted(versions)) {
    const { pk, contentHash: hash, id } = version;
    if (!(await confirmVersion(db, table, { pk, hash }, by))) {
      const message = `${id}@${version.version} was registered with other content meanwhile: submit again`;
      throw new PlatformError('CONFLICT', message);
    }
    const changed = table === 'runtimes' ? await followLatest(db, pk) : undefined;
    if (changed) limits.push(changed);
  }
  return limits;
}
