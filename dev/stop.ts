import { findDataDir } from './data-dir.js';
import { endParts, readOccupant } from './data-dir-lock.js';
import { jobsCutShort } from './launcher.js';
import { endLocalJobs } from './local-jobs.js';
import { partsOn } from './part-processes.js';
import { endProcess, isAlive } from './process-id.js';

/** A launcher gives each of its parts some time to end. */
const LAUNCHER_WITHIN_MS = 90_000;

/**
 * Stops all that runs on a data directory, also what a launcher that is gone has left. Returns whether there was
 * anything. The launcher is asked first; whatever still lives after that is ended one by one.
 */
export async function stopPlatform(dir: string, say: (line: string) => void): Promise<boolean> {
  const paths = findDataDir(dir);
  if (!paths) {
    say(`there is no platform in ${dir}`);
    return false;
  }
  const occupant = readOccupant(paths);
  const isLauncherAlive = occupant !== undefined && isAlive(occupant.launcher);
  const parts = partsOn(paths);
  if (isLauncherAlive) {
    say(`stopping ${['launcher', ...parts.map(({ name, pid }) => `${name} (pid ${pid})`)].join(', ')}`);
    await endProcess(occupant.launcher, 'SIGTERM', LAUNCHER_WITHIN_MS);
  }
  await endParts(partsOn(paths), say);
  const jobs = await endLocalJobs(paths.state);
  if (jobs > 0) say(jobsCutShort(jobs));
  const isAnything = isLauncherAlive || parts.length > 0 || jobs > 0;
  say(isAnything ? 'stopped; the data stays for the next start' : `nothing runs in ${dir}`);
  return isAnything;
}
