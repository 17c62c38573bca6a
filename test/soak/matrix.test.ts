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
      await survives({
        name,
        at: moments(name, times, longestPauseMs),
        strike: async ({ site }) => signalAll(await site.up(...victims), 'SIGKILL'),
      });
    },
    SOAK_MS,
  );
});
