import { E2ePlatform, MINUTE, type PartName } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { expectSurvival } from './survival.js';

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, 2 * MINUTE);
afterAll(() => platform.stop(), MINUTE);

const killing = (...parts: PartName[]) => {
  return () => platform.kill(...parts);
};

async function terminateAdmission(runtime: string): Promise<void> {
  const { workflow } = await platform.temporal();
  const ledger = workflow.getHandle(`admission:default:${runtime}`);
  // After one strike there is none until the next message starts it.
  await eventually('there is a ledger to terminate', async () => {
    const { status } = await ledger.describe();
    return status.name === 'RUNNING' && (await ledger.terminate('by a test'));
  });
}

describe('every case settles once, with its own outcome, from one start of its job, within its slots, when', () => {
  test.each<[string, string, (runtime: string) => Promise<void>, number]>([
    ['the worker is killed twice', 'worker', killing('worker'), 2],
    ['all of them are killed at once', 'all', killing('postgres', 'temporal', 'api', 'worker'), 1],
    ['the admission workflow is terminated twice', 'admission', terminateAdmission, 2],
  ])(
    '%s',
    async (_title, name, strike, times) => {
      await expectSurvival(platform, name, Array(times).fill(strike));
    },
    2 * MINUTE,
  );
});

test(
  'no workflow task failed in all of this',
  async () => {
    expect(await platform.failedWorkflowTasks()).toEqual([]);
  },
  MINUTE,
);
