import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Checked, violationsOf } from './checker.js';
import { SOAK_MS, violationsUnder } from './soak-run.js';

/** One fault of each kind that the outside checker is there to find. */
async function spoil({ platform, id, diary, dataDir }: Checked): Promise<() => void> {
  // Of a run that has two faults only one might be told.
  const spoilt = [1, 2].map((ordinal) => `${id}.${ordinal}`);
  const passed = diary.notes.find(({ exit, runId }) => exit === 0 && !spoilt.includes(runId));
  const start = diary.notes.find(({ what, word }) => what === 'start' && word === passed?.word);
  const run = start?.runId ?? '';
  const again = `start ${run} ${start?.attempt} 1 ${start?.at} ${start?.word} -\n`;
  appendFileSync(diary.file, `${again}start ${run} 7 1 ${start?.at} none -\n`);
  await platform.sql(`UPDATE runs SET outcome = 'cancelled' WHERE id = $1`, [run]);
  await platform.sql('UPDATE attempts SET closed_at = NULL WHERE run_id = $1', [`${id}.1`]);
  await platform.sql(`UPDATE attempts SET answer = 'other' WHERE run_id = $1`, [`${id}.2`]);
  const loud = (which: 'min' | 'max') => `run_id = (SELECT ${which}(run_id) FROM log_chunks WHERE at > 1000000)`;
  await platform.sql(`DELETE FROM log_chunks WHERE ${loud('max')}`);
  await platform.sql(`DELETE FROM log_chunks WHERE ${loud('min')} AND at = 0`);
  const name = `everdict-${id.replaceAll('_', '-')}-0-1`;
  const dir = path.join(dataDir, 'state', 'jobs', name);
  mkdirSync(dir);
  const daemon = spawn('sleep', ['600'], { env: { ...process.env, EVERDICT_ATTEMPT: name } });
  return () => {
    daemon.kill();
    rmSync(dir, { recursive: true, force: true });
  };
}

test(
  'the outside checker finds nothing wrong where nothing is, and each fault that is there',
  async () => {
    let clean: string[] = ['not checked'];
    let mend = () => {};
    const found = await violationsUnder({
      name: 'checker',
      at: [],
      strike: () => 0,
      tamper: async (checked) => {
        clean = await violationsOf(checked);
        mend = await spoil(checked);
      },
    });
    mend();
    expect(clean).toEqual([]);
    for (const fault of [
      /did not settle once: none to \w+, \w+ to cancelled/,
      /settled as cancelled \(null\), wanted passed/,
      /attempt 1 was started 2 times/,
      /attempt 7 was started, and no row knows of it/,
      /\.1 attempt 1 is open/,
      /\.2 has the answer other, its job said/,
      /has [12] holes in its log/,
      /printed 2000000 bytes to each stream, its log ends at 0, 0/,
      /process \d+ is left: sleep 600/,
      /the directory of job \S+ is left/,
    ]) {
      expect(found).toContainEqual(expect.stringMatching(fault));
    }
  },
  SOAK_MS,
);
