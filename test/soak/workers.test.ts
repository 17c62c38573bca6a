import { setTimeout as sleep } from 'node:timers/promises';
import { signalAll } from './dev-site.js';
import { type Fault, moments, SOAK_MS, survives } from './soak-run.js';

const FROZEN_MS = 20_000;
const twoWorkers: Fault['prepare'] = ({ site }) => site.addWorker();

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
    'of which one is frozen for 20 s, and goes on as if nothing had happened',
    async () => {
      await survives({
        name: 'frozen worker',
        prepare: twoWorkers,
        at: moments('frozen worker', 1),
        strike: async ({ site }) => {
          const zombie = (await site.up('worker')).slice(0, 1);
          signalAll(zombie, 'SIGSTOP');
          await sleep(FROZEN_MS);
          return signalAll(zombie, 'SIGCONT');
        },
        // What it held goes on, and must change nothing.
        aftermathMs: 5_000,
      });
    },
    SOAK_MS,
  );
});
