import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Stops the servers of this run that were started, and removes all of it. */
export default async function teardown(): Promise<void> {
  const dir = process.env.EVERDICT_TEST_DIR;
  if (!dir) return;
  await end(path.join(dir, 'temporal.pid'), 'SIGKILL');
  await end(path.join(dir, 'postgres.pid'), 'SIGQUIT');
  rmSync(dir, { recursive: true, force: true });
}

/** The data is thrown away, so a server may drop everything at once. */
async function end(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  try {
    process.kill(pid, signal);
    while (process.kill(pid, 0)) await sleep(10);
  } catch {
    // It is gone.
  } finally {
    rmSync(pidFile, { force: true });
  }
}
