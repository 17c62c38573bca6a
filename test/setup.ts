import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Makes the directory that the test files of a run share; the first that needs Postgres or Temporal starts it there.
 * Jest loads this file outside its module system, so it can import nothing of ours.
 */
export default function setup(): void {
  // Once for all projects of a run: another directory would hide what the first one says is running.
  if (process.env.EVERDICT_TEST_DIR) return;
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-test-'));
  process.env.EVERDICT_TEST_DIR = dir;
  // Jest skips the teardown when it is interrupted.
  process.once('exit', () => {
    for (const [server, signal] of [
      ['postgres', 'SIGQUIT'],
      ['temporal', 'SIGKILL'],
    ] as const) {
      try {
        process.kill(Number(readFileSync(path.join(dir, `${server}.pid`), 'utf8')), signal);
      } catch {
        // It was never started, or has been stopped.
      }
    }
  });
}
