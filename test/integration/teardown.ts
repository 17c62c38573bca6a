import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Stops the Postgres of this run, if one was started, and removes all of it. */
export default async function teardown(): Promise<void> {
  const dir = process.env.EVERDICT_TEST_DIR;
  if (!dir) return;
  const pidFile = path.join(dir, 'postgres.pid');
  if (existsSync(pidFile)) await end(Number(readFileSync(pidFile, 'utf8')));
  rmSync(dir, { recursive: true, force: true });
}

/** The data is thrown away, so the server may drop everything at once. */
async function end(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGQUIT');
    while (process.kill(pid, 0)) await sleep(10);
  } catch {
    // It is gone.
  }
}
