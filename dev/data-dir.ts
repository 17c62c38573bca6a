import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { endProcess, hasCode, identify, isAlive, ProcessId } from './process-id.js';

/** Who uses a data directory: the launcher, and what it started, in order of start. */
const Occupant = z.object({
  launcher: ProcessId,
  url: z.string().optional(),
  parts: z.array(ProcessId.extend({ name: z.string() })).default([]),
});
type Occupant = z.infer<typeof Occupant>;

export interface DataPaths {
  dir: string;
  postgres: string;
  temporal: string;
  state: string;
  logs: string;
  running: string;
}

export function dataPaths(dir: string): DataPaths {
  const below = (name: string): string => path.join(dir, name);
  return {
    dir,
    postgres: below('postgres'),
    temporal: below('temporal.db'),
    state: below('state'),
    logs: below('logs'),
    running: below('running.json'),
  };
}

/** A data directory serves one launcher at a time; the file `running.json` in it says which. */
export class DataDirLock {
  private current: Occupant;

  private constructor(private readonly paths: DataPaths) {
    this.current = { launcher: identify(process.pid), parts: [] };
  }

  /** Takes the directory. What a killed launcher left running in it is ended first. */
  static async take(paths: DataPaths, say: (line: string) => void): Promise<DataDirLock> {
    for (const dir of [paths.dir, paths.state, paths.logs]) mkdirSync(dir, { recursive: true });
    const lock = new DataDirLock(paths);
    for (let tries = 0; tries < 3; tries += 1) {
      if (lock.create()) return lock;
      const other = lock.read();
      if (other && isAlive(other.launcher)) throw inUse(paths.dir, other);
      await endLeftovers(other?.parts ?? [], say);
      rmSync(paths.running, { force: true });
    }
    throw new Error(`${paths.running} keeps coming back: is another start going on in ${paths.dir}?`);
  }

  /** Keeps what runs on disk, so that nothing is lost sight of if this process is killed. */
  record(change: Partial<Omit<Occupant, 'launcher'>>): void {
    this.current = { ...this.current, ...change };
    if (!existsSync(this.paths.dir)) return;
    writeFileSync(`${this.paths.running}.new`, JSON.stringify(this.current, null, 2));
    renameSync(`${this.paths.running}.new`, this.paths.running);
  }

  release(): void {
    rmSync(this.paths.running, { force: true });
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

  private read(): Occupant | undefined {
    try {
      return Occupant.parse(JSON.parse(readFileSync(this.paths.running, 'utf8')));
    } catch {
      return undefined;
    }
  }
}

function inUse(dir: string, { launcher, url }: Occupant): Error {
  const where = url ? ` and answers at ${url}` : ' and is starting';
  return new Error(
    `a platform already runs in ${dir} (pid ${launcher.pid})${where}: use it, stop it with Ctrl-C there, or choose another --dir`,
  );
}

/** Their jobs go on: the worker of the new start adopts them. */
async function endLeftovers(parts: Occupant['parts'], say: (line: string) => void): Promise<void> {
  const alive = parts.filter(isAlive).reverse();
  if (alive.length > 0) say(`ending what an earlier start left: ${alive.map(({ name }) => name).join(', ')}`);
  // For Postgres SIGINT is the fast way down; SIGTERM waits for its clients.
  for (const part of alive) await endProcess(part, part.name === 'postgres' ? 'SIGINT' : 'SIGTERM', 10_000);
}
