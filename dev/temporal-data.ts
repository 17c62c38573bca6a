import { closeSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { seriesOf } from '../config/releases.js';
import { type DataPaths, readMarker, writeMarker } from './data-dir.js';

const SQLITE_HEADER = 'SQLite format 3\0';
/** What the server says of a file that is damaged further on. */
const DAMAGED = /not a database|malformed|disk I\/O error|no such table|no such column|has no column/i;
const READ_ONLY = /readonly database|unable to open database file/i;
const NO_ROOM = /database or disk is full|no space left on device/i;

/**
 * Refuses a database of histories that the server cannot use: it makes its schema only in a new file, and never brings
 * an old one up to date. One whose making was cut short holds nothing, and is made again.
 */
export function admitTemporalData(paths: DataPaths, serverVersion: string): void {
  const { temporalServer, isTemporalDraft } = readMarker(paths);
  if (isTemporalDraft) for (const file of filesOf(paths.temporal)) rmSync(file, { force: true });
  if (!statSync(paths.temporal, { throwIfNoEntry: false })) {
    // The database to come is this server's, whatever made the one before.
    writeMarker(paths, { temporalServer: serverVersion, isTemporalDraft: true });
    return;
  }
  if (!isSqlite(paths.temporal)) throw unusable(paths, 'is damaged: it is no SQLite database');
  if (temporalServer === undefined) writeMarker(paths, { temporalServer: serverVersion });
  if (!temporalServer || seriesOf(temporalServer) === seriesOf(serverVersion)) return;
  throw unusable(
    paths,
    `was made by Temporal server ${temporalServer}, and this is ${serverVersion}, which does not convert it: set ` +
      `EVERDICT_TEMPORAL_CLI to a \`temporal\` with server ${seriesOf(temporalServer)}`,
  );
}

/** Once the server is up, what it has made is whole. */
export const keepTemporalData = (paths: DataPaths): void => writeMarker(paths, { isTemporalDraft: false });

/** Says of a server that did not start what that has to do with its database. */
export function explainTemporalFailure(error: unknown, paths: DataPaths): unknown {
  if (!(error instanceof Error)) return error;
  if (READ_ONLY.test(error.message)) {
    const message = `the database of Temporal, ${paths.temporal}, cannot be written: it must belong to the user that starts it, and be writable`;
    return new Error(message, { cause: error });
  }
  if (NO_ROOM.test(error.message)) {
    const message = `the database of Temporal, ${paths.temporal}, has no room: the disk is full; make room and start again, nothing is lost`;
    return new Error(message, { cause: error });
  }
  if (!DAMAGED.test(error.message)) return error;
  return unusable(paths, `is damaged, or of another version: ${error.message}`, error);
}

function unusable({ dir, temporal }: DataPaths, what: string, cause?: unknown): Error {
  const old = path.join(dir, 'old-temporal');
  const message = [
    `the database of Temporal, ${temporal}, ${what}`,
    'Nothing was changed, and every result is safe in Postgres. To go on without the histories of what is unfinished:',
    `  mkdir ${old} && mv ${temporal}* ${old}/`,
    'Unfinished scorecards then end with PLATFORM_TERMINATED for their unfinished cases.',
  ];
  return new Error(message.join('\n'), { cause });
}

/** With those of its write-ahead log. */
const filesOf = (file: string): string[] =>
  readdirSync(path.dirname(file))
    .filter((name) => name.startsWith(path.basename(file)))
    .map((name) => path.join(path.dirname(file), name));

function isSqlite(file: string): boolean {
  const fd = openSync(file, 'r');
  try {
    const header = Buffer.alloc(SQLITE_HEADER.length);
    readSync(fd, header, 0, header.length, 0);
    return header.toString('latin1') === SQLITE_HEADER;
  } finally {
    closeSync(fd);
  }
}
