import { readFileSync } from 'node:fs';
import type { RunView } from '../../contracts/run.js';
import { E2ePlatform, MINUTE } from '../e2e/platform.js';

const MB = 1_024 * 1_024;
const KEPT = 10 * MB;

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

function workerMb(): number {
  const status = readFileSync(`/proc/${platform.stack.pids.worker}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** Samples until the returned function is called, which answers with the most that was seen. */
function watchWorker(): () => number {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, workerMb());
  }, 50);
  return () => {
    clearInterval(timer);
    return most;
  };
}

async function complete(harness: string, tasks: string[]): Promise<RunView[]> {
  const cases = tasks.map((task, index) => ({ id: `case-${index}`, task }));
  const registered = await platform.register({ harness: { command: harness }, cases });
  const id = await platform.submit(registered);
  await platform.until(id, 'completes', ({ status }) => status === 'completed', 4 * MINUTE);
  return platform.runs(id);
}

const FLOODS = {
  lines: { command: 'yes | head -c 700M; echo RESULT=1', bytes: 700 * MB + 9 },
  stream: { command: 'head -c 1G /dev/zero; echo RESULT=1', bytes: 1_024 * MB + 9 },
  line: { command: 'head -c 200M /dev/zero | tr "\\0" x; echo; echo RESULT=1', bytes: 200 * MB + 10 },
};

test(
  'jobs that print 700 MB, 1 GiB and one line of 200 MiB pass with bounded memory, and others beside them do not notice',
  async () => {
    const quiet = await complete(
      'echo "$EVERDICT_TASK"',
      Array.from({ length: 40 }, (_, i) => `task ${i}`),
    );
    expect(quiet.map(({ outcome }) => outcome)).toEqual(quiet.map(() => 'passed'));
    const idleMb = workerMb();

    const most = watchWorker();
    const floods = complete(
      'eval "$EVERDICT_TASK"',
      Object.values(FLOODS).map(({ command }) => command),
    );
    const beside = await complete(
      'echo "$EVERDICT_TASK"',
      Array.from({ length: 30 }, (_, i) => `task ${i}`),
    );
    const flooded = await floods;
    const grownMb = most() - idleMb;

    expect(beside.map(({ outcome }) => outcome)).toEqual(beside.map(() => 'passed'));
    expect(flooded.map(({ outcome }) => outcome)).toEqual(flooded.map(() => 'passed'));
    expect(grownMb).toBeLessThan(100);
    for (const [i, { bytes }] of Object.values(FLOODS).entries()) {
      const id = flooded[i]?.id ?? '';
      const [attempt] = await platform.attempts(id);
      expect(attempt).toMatchObject({ end: 'record', answerCut: true });
      const kept = await platform.sql(
        'SELECT sum(octet_length(bytes)) AS kept, max(at + octet_length(bytes)) AS "end" FROM log_chunks WHERE run_id = $1',
        [id],
      );
      expect(kept.map((row) => [Number(row.kept), Number(row.end)])).toEqual([[KEPT, bytes]]);
      const log = await platform.ok<string>('GET', `/runs/${id}/logs`);
      expect(log).toMatch(/\[\d+ bytes of stdout cut\]/);
      expect(log.endsWith('RESULT=1\n')).toBe(true);
    }
  },
  10 * MINUTE,
);
