import fs from 'node:fs/promises';
import path from 'node:path';
import { type DataPaths, readMarker, writeMarker } from './data-dir.js';
import { DISK_FULL } from './way-out.js';

/** What the server says when its own files contradict each other. */
const DAMAGED =
  /valid checkpoint|checkpoint record|invalid magic number|invalid record|incorrect resource manager|control file|pg_control|invalid page|could not open file "(global|base|pg_\w+)|could not open directory|not a valid data directory|wrong ownership of/i;
const NO_ROOM = /No space left on device/i;
const NO_RIGHT = /Permission denied|Read-only file system/i;
const NO_NAME = /could not look up effective user ID/i;

/** Refuses to make a database where there was one: an empty one in its place would hide that the results are gone. */
export async function admitPostgresData(paths: DataPaths): Promise<void> {
  if (!readMarker(paths).hasPostgres) return;
  const content: string[] = await fs.readdir(paths.postgres).catch(() => []);
  if (content.length === 0) throw new Error(damaged(paths.postgres, 'it is gone'));
}

/** Once the server is up, there is a database to be kept. */
export function keepPostgresData(paths: DataPaths): void {
  if (!readMarker(paths).hasPostgres) writeMarker(paths, { hasPostgres: true });
}

/** Whether a directory holds data of this major version; false for one that is empty or not there. Refuses all else. */
export async function holdsCluster(dataDir: string, major: string): Promise<boolean> {
  const content: string[] = await fs.readdir(dataDir).catch(() => []);
  if (content.length === 0) return false;
  const version = await fs.readFile(path.join(dataDir, 'PG_VERSION'), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
  if (version === major) return true;
  if (version && /^\d+$/.test(version)) {
    throw new Error(
      `${dataDir} holds data of Postgres ${version}, and this is ${major}, which cannot read it: dump it with the ` +
        `Everdict that wrote it. ${startAnew(dataDir)}`,
    );
  }
  if (content.includes('global') && content.includes('base')) {
    throw new Error(damaged(dataDir, version === undefined ? 'PG_VERSION is missing' : 'PG_VERSION makes no sense'));
  }
  throw new Error(`${dataDir} is not empty and holds no Postgres data: choose another directory`);
}

export const damaged = (dataDir: string, how: string): string =>
  `the data of Postgres in ${dataDir} is damaged: ${how}. Restore the directory from a copy if there is one. ${startAnew(dataDir)}`;

/** The data directory of the platform is the one above. */
const startAnew = (dataDir: string): string =>
  `To start anew, \`npx everdict dev reset --keep --dir ${path.dirname(dataDir)}\` moves all data aside. Nothing was changed.`;

/** Why the server did not start, and what helps. */
export function explainPostgresFailure(said: string, dataDir: string, port: number): string {
  const head = `Postgres did not start on port ${port} in ${dataDir}:\n${said}`;
  const wayOut = wayOutOf(said);
  if (wayOut) return `${head}\n${wayOut}`;
  return DAMAGED.test(said) ? `${head}\n${damaged(dataDir, 'see above')}` : head;
}

/** The same of one whose database could not be made. */
export function explainInitFailure(said: string, dataDir: string): string {
  const head = `no database could be made in ${dataDir}: ${said.trim()}`;
  const wayOut = NO_NAME.test(said)
    ? 'The user that runs this has no name here: give it a line in /etc/passwd, or run as one that has.'
    : wayOutOf(said);
  return wayOut ? `${head}\n${wayOut}` : head;
}

function wayOutOf(said: string): string | undefined {
  if (NO_ROOM.test(said)) return DISK_FULL;
  if (NO_RIGHT.test(said)) return 'Its files must belong to the user it runs as, and be writable.';
  return undefined;
}
