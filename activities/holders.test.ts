import { WorkflowNotFoundError } from '@temporalio/client';
import { Holders } from './holders.js';

const RUN = 'sc_1.0';
const LEASE = { holder: `case:${RUN}`, to: 'window:sc_1:0', seq: 7 };

/** Whether the lease of a case counts as abandoned, given what runs; workflows that are not named are not there. */
async function isDead(statuses: Record<string, string>, outcome?: 'passed' | 'cancelled'): Promise<boolean> {
  const getHandle = (workflowId: string) => ({
    describe: async () => {
      const name = statuses[workflowId];
      if (name === undefined) throw new WorkflowNotFoundError('not found', workflowId, undefined);
      return { status: { name } };
    },
  });
  const client = { getHandle } as unknown as ConstructorParameters<typeof Holders>[0];
  const holders = new Holders(client, { guards: async () => ({ outcome, isCancelRequested: false }) });
  return (await holders.dead([LEASE])).length > 0;
}

const [CASE, WINDOW, ROOT] = [LEASE.holder, LEASE.to, 'scorecard:sc_1'];

describe('a lease is given up only if nobody else will give it back:', () => {
  test.each<[string, Record<string, string>, 'passed' | 'cancelled' | undefined, boolean]>([
    ['a case that runs', { [CASE]: 'RUNNING' }, undefined, false],
    ['a case that runs and has settled', { [CASE]: 'RUNNING' }, 'passed', false],
    ['a case that ended by itself', { [CASE]: 'COMPLETED', [WINDOW]: 'RUNNING' }, 'passed', true],
    ['a terminated case whose window repairs it', { [CASE]: 'TERMINATED', [WINDOW]: 'RUNNING' }, undefined, false],
    [
      'a terminated case whose root opens its window again',
      { [CASE]: 'TERMINATED', [ROOT]: 'RUNNING' },
      undefined,
      false,
    ],
    ['a terminated case of nobody', { [CASE]: 'TERMINATED' }, undefined, true],
    [
      'a terminated case that had settled, which no window lists',
      { [CASE]: 'TERMINATED', [ROOT]: 'RUNNING' },
      'passed',
      true,
    ],
    ['a case that never began and is cancelled', { [WINDOW]: 'RUNNING', [ROOT]: 'RUNNING' }, 'cancelled', true],
    ['a case that has not begun', { [WINDOW]: 'RUNNING', [ROOT]: 'RUNNING' }, undefined, false],
  ])('%s', async (_title, statuses, outcome, want) => {
    expect(await isDead(statuses, outcome)).toBe(want);
  });
});
