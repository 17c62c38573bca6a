import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { compareReleases } from '../config/releases.js';
import { VERSION } from '../config/version.js';
import { freeMb } from './disk.js';

/** Kept in the directory: that it is ours, and what wrote it last. */
const Marker = z.object({
  everdict: z.string(),
  /** Version of the Temporal server that made the database of histories. */
  temporalServer: z.string().optional(),
  /** From before that database is made until its server was up: without, it may be half made, and holds nothing. */
  isTemporalDraft: z.boolean().optional(),
  /** From when Postgres was first up: results have been kept since. */
  hasPostgres: z.boolean().optional(),
});
export type Marker = z.infer<typeof Marker>;

export interface DataPaths {
  dir: string;
  marker: string;
  postgres: string;
  temporal: string;
  state: string;
  logs: string;
  running: string;
  /** Value of EVERDICT_SECRETS_KEY for this platform. */
  secretsKey: string;
}

/** Less than this is not enough to start, or to recover, the two servers. */
const NEEDED_MB = 64;
/** Everything that we put into a data directory. */
export const OURS =
  /^(everdict\.json|fake-(nomad|k8s)\.json|running\.json|secrets\.key|temporal\.db|postgres\.(init|password))|^(postgres|old-temporal|state|logs|fake-k8s)$/;

export function dataPaths(dir: string): DataPaths {
  const below = (name: string): string => path.join(dir, name);
  return {
    dir,
    marker: below('everdict.json'),
    postgres: below('postgres'),
    temporal: below('temporal.db'),
    state: below('state'),
    logs: below('logs'),
    running: below('running.json'),
    secretsKey: below('secrets.key'),
  };
}

/** Makes the directory if there is none. Refuses one that is not ours. */
export function openDataDir(wanted: string): DataPaths {
  const paths = dataPaths(makeDir(wanted));
  requireOurs(paths);
  return paths;
}

/** Refuses a directory that is newer than us, or that we cannot use, and changes nothing. */
export function requireUsable(paths: DataPaths): void {
  const { dir } = paths;
  const { everdict } = readMarker(paths);
  if (compareReleases(everdict, VERSION) > 0) {
    throw new Error(
      `the data in ${dir} was written by Everdict ${everdict}, and this is ${VERSION}: run that version or a newer ` +
        'one, or choose another --dir; nothing was changed',
    );
  }
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw noPermission(dir, cause);
  }
  const free = freeMb(dir);
  if (free >= NEEDED_MB) return;
  throw new Error(
    `only ${free} MB are free where ${dir} is, and ${NEEDED_MB} MB are needed to start: make room, or choose another ` +
      '--dir; the data is as it was',
  );
}

/** What is in it from the first moment, and that this version uses it from now on. */
export function furnish(paths: DataPaths): void {
  writeMarker(paths, { everdict: VERSION });
  for (const each of [paths.state, paths.logs]) mkdirSync(each, { recursive: true });
}

/** A file that makes no sense says no more than that the directory is ours. */
export function readMarker({ marker }: DataPaths): Marker {
  try {
    return Marker.parse(JSON.parse(readFileSync(marker, 'utf8')));
  } catch {
    return { everdict: VERSION };
  }
}

/** Whole or not at all. */
export function writeMarker(paths: DataPaths, change: Partial<Marker>): void {
  writeFileSync(`${paths.marker}.new`, `${JSON.stringify({ ...readMarker(paths), ...change }, null, 2)}\n`);
  renameSync(`${paths.marker}.new`, paths.marker);
}

/** Whether a platform was ever started in a directory. */
const isDataDir = (dir: string): boolean => existsSync(dataPaths(dir).marker);

/** A data directory as its launcher calls it, however it is named here; nothing if it is none. */
export const findDataDir = (dir: string): DataPaths | undefined =>
  isDataDir(dir) ? dataPaths(realpathSync(dir)) : undefined;

function makeDir(wanted: string): string {
  try {
    mkdirSync(wanted, { recursive: true });
    return realpathSync(wanted);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') {
      throw new Error(`${wanted} is a file, and no directory for data: choose another --dir; nothing was changed`, {
        cause,
      });
    }
    throw new Error(`the data directory ${wanted} cannot be made (${codeOf(cause)}): choose another --dir`, { cause });
  }
}

function requireOurs({ dir }: DataPaths): void {
  let content: string[];
  try {
    content = readdirSync(dir);
  } catch (cause) {
    throw noPermission(dir, cause);
  }
  if (isDataDir(dir) || content.every((name) => OURS.test(name))) return;
  throw new Error(`${dir} is not empty and no data directory of Everdict: choose another --dir; nothing was changed`);
}

function noPermission(dir: string, cause: unknown): Error {
  const message = `no permission to write in the data directory ${dir} (${codeOf(cause)}): run as its owner, or choose another --dir`;
  return new Error(message, { cause });
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);
