import { existsSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Census } from '../store/census.js';
import { censusOf, counted, unfinishedOf } from './census.js';
import { type DataPaths, findDataDir, OURS } from './data-dir.js';
import { isOccupied } from './data-dir-lock.js';
import { usedMb } from './disk.js';
import { endLocalJobs } from './local-jobs.js';
import { startPostgres } from './postgres.js';
import { stopPlatform } from './stop.js';

export interface ResetOptions {
  dir: string;
  /** Stops what runs there first, instead of refusing. */
  isStopping: boolean;
  /** Moves the data aside instead of deleting it. */
  isKept: boolean;
  /** Whether to go on, asked once it is known what is at stake. */
  confirm(stake: string): Promise<boolean>;
  say(line: string): void;
}

/** Empties a data directory. Returns whether it did; whatever else is in the directory stays. */
export async function resetPlatform(options: ResetOptions): Promise<boolean> {
  const { dir, isStopping, isKept, say } = options;
  const paths = findDataDir(dir);
  if (!paths) {
    const what = existsSync(dir) ? `${dir} is no data directory of Everdict` : `there is no ${dir}`;
    throw new Error(`${what}: nothing was changed`);
  }
  if (isOccupied(paths)) {
    if (!isStopping) {
      throw new Error(`a platform runs in ${dir}: stop it first with \`npx everdict dev stop\`, or add --stop`);
    }
    await stopPlatform(dir, say);
  }
  const stake = `${dir}: ${usedMb(dir)} MB, ${await contentOf(paths)}`;
  if (!(await options.confirm(stake))) return false;
  await endLocalJobs(paths.state);
  if (isKept) say(`moved to ${moveAside(paths.dir)}; moving it back brings everything back`);
  else say(emptied(paths));
  return true;
}

/** Postgres has to be asked, so it is started for the question. */
async function contentOf({ postgres }: DataPaths): Promise<string> {
  if (!existsSync(postgres)) return 'no database';
  let census: Census | undefined;
  try {
    const server = await startPostgres({ dataDir: postgres });
    try {
      census = await censusOf(server.url);
    } finally {
      await server.stop();
    }
  } catch (error) {
    return `a database that cannot be read (${error instanceof Error ? error.message.split('\n')[0] : error})`;
  }
  if (!census) return 'an empty database';
  const unfinished = unfinishedOf(census);
  const results = census.scorecards > 0 ? ' with all results' : '';
  return `${counted(census.scorecards, 'scorecard')}${results}${unfinished ? `, unfinished: ${unfinished}` : ''}`;
}

function moveAside(dir: string): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '');
  const kept = `${dir}.kept-${time}`;
  renameSync(dir, kept);
  return kept;
}

function emptied({ dir, postgres, marker }: DataPaths): string {
  // Run by root, Postgres may keep its data elsewhere, behind a link.
  if (existsSync(postgres)) rmSync(realpathSync(postgres), { recursive: true, force: true });
  // What says that it is ours goes last.
  for (const name of readdirSync(dir).filter((each) => OURS.test(each) && each !== path.basename(marker))) {
    rmSync(path.join(dir, name), { recursive: true, force: true });
  }
  rmSync(marker, { force: true });
  const left = readdirSync(dir);
  if (left.length > 0) return `deleted; what is not ours stays in ${dir}: ${left.join(', ')}`;
  try {
    rmdirSync(dir);
  } catch {
    // It is the place of a mount.
  }
  return 'deleted';
}
