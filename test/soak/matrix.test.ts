import { eventually } from '../eventually.js';
import { signalAll, type Victim } from './dev-site.js';
import { moments, SOAK_MS, survives } from './soak-run.js';

const EVERYTHING: Victim[] = ['launcher', 'worker', 'api', 'temporal', 'postgres'];

describe('no result is lost, doubled or changed, and nothing is left, when kill -9 hits', () => {
  // A part may be hit while it comes up; one that is down just then is spared if another is hit.
  test.each<[string, Victim[], number, number]>([
    ['the worker', ['worker'], 8, 2_500],
    ['the API', ['api'], 8, 2_500],
    ['Temporal', ['temporal'], 8, 2_500],
    ['Postgres', ['postgres'], 8, 2_500],
    // Its start takes longer than that of any part.
    ['the launcher', ['launcher'], 8, 6_000],
    ['everything at once', EVERYTHING, 5, 6_000],
  ])(
    '%s',
    async (name, victims, times, longestPauseMs) => {
      let hits = 0;
      await survives({
        name,
        at: moments(name, times, longestPauseMs),
        strike: async ({ site }) => {
          const alive = await eventually(`${name} is up`, async () => {
            const found = victims.flatMap((part) => site.processes(part));
            return found.length > 0 && found;
          });
          signalAll(alive, 'SIGKILL');
          hits += alive.length;
        },
      });
      process.stderr.write(`${name}: ${hits} processes killed\n`);
    },
    SOAK_MS,
  );
});
