import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Makes the directory that the test files of a run share; the first that needs Postgres starts it there. Jest loads
 * this file outside its module system, so it can import nothing of ours.
 */
export default function setup(): void {
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-test-'));
  process.env.EVERDICT_TEST_DIR = dir;
  // Jest skips the teardown when it is interrupted.
  process.once('exit', () => {
    try {
      process.kill(Number(readFileSync(path.join(dir, 'postgres.pid'), 'utf8')), 'SIGQUIT');
    } catch {
      // It was never started, or has been stopped.
    }
  });
}
