import { setTimeout as sleep } from 'node:timers/promises';
import { signalAll } from './dev-site.js';
import type { LiveProcess } from './process-table.js';
import { type Fault, moments, SOAK_MS, survives } from './soak-run.js';

const FROZEN_MS = 20_000;
/** About as long as a workflow task is waited for: some are given to the other worker, and some just not. */
const [SHORTEST_STALL_MS, LONGEST_STALL_MS] = [1_000, 3_500];
const twoWorkers: Fault['prepare'] = ({ site }) => site.addWorker();

async function freeze(processes: LiveProcess[], ms: number): Promise<number> {
  signalAll(processes, 'SIGSTOP');
  await sleep(ms);
  return signalAll(processes, 'SIGCONT');
}

describe('no result is lost, doubled or changed, and nothing is left, with two worker processes', () => {
  test(
    'of which one is killed, again and again',
    async () => {
      await survives({
        name: 'two workers',
        prepare: twoWorkers,
        at: moments('two workers', 8),
        strike: async ({ site, random }) => {
          const alive = await site.up('worker');
          return signalAll(alive.slice(random(0, alive.length - 1)).slice(0, 1), 'SIGKILL');
        },
      });
    },
    SOAK_MS,
  );

  test(
    'while Ctrl-C stops the platform, and it is started again, again and again',
    async () => {
      await survives({
        name: 'stopped and started',
        prepare: twoWorkers,
        at: moments('stopped and started', 3, 6_000),
        strike: async ({ site }) => signalAll(await site.up('launcher'), 'SIGINT'),
        // They are ended with it.
        mayLoseJobs: true,
      });
    },
    SOAK_MS,
  );

  test(
    'of which one stands still for a moment, again and again, and so loses what it was at',
    async () => {
      await survives({
        name: 'stalled workers',
        prepare: twoWorkers,
        at: moments('stalled workers', 12, 500),
        strike: async ({ site, random }) => {
          const alive = await site.up('worker');
          const stalled = alive.slice(random(0, alive.length - 1)).slice(0, 1);
          return freeze(stalled, random(SHORTEST_STALL_MS, LONGEST_STALL_MS));
        },
        aftermathMs: 5_000,
      });
    },
    SOAK_MS,
  );

  test(
    'of which one is frozen for 20 s, and goes on as if nothing had happened',
    async () => {
      await survives({
        name: 'frozen worker',
        prepare: twoWorkers,
        at: moments('frozen worker', 1),
        strike: async ({ site }) => freeze((await site.up('worker')).slice(0, 1), FROZEN_MS),
        // What it held goes on, and must change nothing.
        aftermathMs: 5_000,
      });
    },
    SOAK_MS,
  );
});
