import { eventually } from '../eventually.js';
import { moments, SOAK_MS, survives } from './soak-run.js';

const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'everdict%'`;
const ANY_BACKEND = `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'everdict%' ORDER BY random() LIMIT 1`;

describe('no result is lost, doubled or changed, and nothing is left, when', () => {
  test(
    'all connections to Postgres are cut, again and again',
    async () => {
      await survives({
        name: 'cut connections',
        at: moments('cut connections', 25, 500),
        strike: ({ platform }) =>
          eventually('connections to be cut', async () => (await platform.sql(CUT)).length || undefined),
      });
    },
    SOAK_MS,
  );

  test(
    'a process of Postgres dies, which makes it drop everything and recover',
    async () => {
      await survives({
        name: 'dead backend',
        at: moments('dead backend', 5),
        strike: async ({ platform }) => {
          const pid = await eventually('a backend is up', async () => {
            const [backend] = await platform.sql<{ pid: number }>(ANY_BACKEND).catch(() => []);
            return backend?.pid;
          });
          process.kill(pid, 'SIGKILL');
          return 1;
        },
      });
    },
    SOAK_MS,
  );
});
