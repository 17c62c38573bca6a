import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { type DataPaths, furnish, openDataDir, requireUsable } from './data-dir.js';
import { type PartProcess, partsOn } from './part-processes.js';
import { endProcess, hasCode, identify, isAlive, ProcessId } from './process-id.js';

/** Who uses a data directory: the launcher, what it started, in order of start, and how to reach that. */
const Occupant = z.object({
  launcher: ProcessId,
  /** Of the API, once all is up. */
  url: z.string().optional(),
  temporalUiUrl: z.string().optional(),
  temporalAddress: z.string().optional(),
  postgresPort: z.int().optional(),
  parts: z.array(ProcessId.extend({ name: z.string() })).default([]),
});
export type Occupant = z.infer<typeof Occupant>;

/** What `running.json` says, if it makes sense. */
export function readOccupant({ running }: DataPaths): Occupant | undefined {
  try {
    return Occupant.parse(JSON.parse(readFileSync(running, 'utf8')));
  } catch {
    return undefined;
  }
}

/** A data directory serves one launcher at a time; the file `running.json` in it says which. */
export class DataDirLock {
  private current: Occupant;

  private constructor(readonly paths: DataPaths) {
    this.current = { launcher: identify(process.pid), parts: [] };
  }

  /** Takes the directory. What a killed launcher left running in it is ended first. */
  static async take(dir: string, say: (line: string) => void): Promise<DataDirLock> {
    const lock = new DataDirLock(openDataDir(dir));
    const { paths } = lock;
    refuseOccupied(paths);
    requireUsable(paths);
    for (let tries = 0; tries < 3; tries += 1) {
      if (lock.create()) {
        furnish(paths);
        await endParts(partsOn(paths), say);
        return lock;
      }
      refuseOccupied(paths);
      rmSync(paths.running, { force: true });
    }
    throw new Error(`${paths.running} keeps coming back: is another start going on in ${paths.dir}?`);
  }

  /** Whether the directory is there and ours: it may have been removed, or taken by somebody who could not read of us. */
  get isHeld(): boolean {
    return readOccupant(this.paths)?.launcher.pid === process.pid;
  }

  /** Keeps what runs on disk, for whoever asks. Whoever starts next looks at what really runs. */
  record(change: Partial<Omit<Occupant, 'launcher'>>): void {
    this.current = { ...this.current, ...change };
    try {
      writeFileSync(`${this.paths.running}.new`, JSON.stringify(this.current, null, 2));
      renameSync(`${this.paths.running}.new`, this.paths.running);
    } catch {
      // A full disk, or a directory that was removed, is no reason to fail a start.
    }
  }

  release(): void {
    if (this.isHeld) rmSync(this.paths.running, { force: true });
  }

  /** A link is made whole and only once. */
  private create(): boolean {
    const draft = `${this.paths.running}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(this.current, null, 2));
    try {
      linkSync(draft, this.paths.running);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

/** In reverse order. Their jobs go on: the worker of the next start adopts them. */
export async function endParts(parts: readonly PartProcess[], say: (line: string) => void): Promise<void> {
  const last = [...parts].reverse();
  if (last.length > 0) say(`ending what an earlier start left: ${last.map(({ name }) => name).join(', ')}`);
  // For Postgres SIGINT is the fast way down; SIGTERM waits for its clients.
  for (const part of last) await endProcess(part, part.name === 'postgres' ? 'SIGINT' : 'SIGTERM', 15_000);
}

/** Whether anything runs on a data directory, a launcher or a part. */
export function isOccupied(paths: DataPaths): boolean {
  const occupant = readOccupant(paths);
  return (occupant !== undefined && isAlive(occupant.launcher)) || partsOn(paths).length > 0;
}

function refuseOccupied(paths: DataPaths): void {
  const other = readOccupant(paths);
  if (!other || !isAlive(other.launcher)) return;
  const where = other.url ? ` and answers at ${other.url}` : ' and is starting';
  throw new Error(
    `a platform already runs in ${paths.dir} (pid ${other.launcher.pid})${where}: use it, stop it with ` +
      '`npx everdict dev stop` or Ctrl-C where it runs, or choose another --dir',
  );
}
