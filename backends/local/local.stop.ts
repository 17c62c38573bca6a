import { setTimeout as sleep } from 'node:timers/promises';
import { PlatformError } from '../../contracts/errors.js';
import { isAlive, type ProcessId, type ProcessTable, signal, uptimeTicks } from './local.process.js';
import { type JobPaths, readWrapper, sealOutput } from './local.state.js';

/** After KILL; a process in an uninterruptible call may take longer, and is looked for again by the next call. */
const KILL_WAIT_MS = 5_000;
const LONGEST_PAUSE_MS = 50;

/**
 * Ends every process of a job, and succeeds only when a look at all processes of the host finds none. What it says of
 * itself from then on is no result: a command that gets TERM ends as one that fails.
 * 1. TERM to the wrapper's group; a wrapper that has printed its record ends at once.
 * 2. Within the grace: TERM, once, to what is outside the group or came later; the wrapper, which takes none before its
 *    record, is told again.
 * 3. After the grace: KILL, again and again, as a process may have forked meanwhile.
 */
export async function killJob(paths: JobPaths, name: string, processes: ProcessTable, graceMs: number): Promise<void> {
  sealOutput(paths);
  const wrapper = readWrapper(paths, name);
  const killAt = performance.now() + graceMs;
  let groupToldAt = 0;
  if (wrapper && isAlive(wrapper)) {
    groupToldAt = uptimeTicks();
    signal(-wrapper.pid, 'SIGTERM');
    await untilGone(wrapper);
  }
  const told = new Set<number>();
  for (let pauseMs = 2; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
    const left = await processes.of(name, wrapper);
    if (left.length === 0) return;
    const now = performance.now();
    if (now > killAt + KILL_WAIT_MS) {
      const pids = left.map(({ pid }) => pid).join(', ');
      throw new PlatformError('CLUSTER_UNREACHABLE', `processes of ${name} do not end, not even by KILL: ${pids}`);
    }
    for (const { pid, group, startTime } of left) {
      const isTold = told.has(pid) || (group === wrapper?.pid && pid !== group && Number(startTime) <= groupToldAt);
      if (now >= killAt) signal(pid, 'SIGKILL');
      else if (!isTold) signal(pid, 'SIGTERM');
      if (pid !== wrapper?.pid) told.add(pid);
    }
    await sleep(pauseMs);
  }
}

/** A wrapper that lingers ends within a few ms; one that does not takes no TERM yet. */
async function untilGone(wrapper: ProcessId): Promise<void> {
  for (let pauseMs = 1; pauseMs <= 16 && isAlive(wrapper); pauseMs *= 2) await sleep(pauseMs);
}
