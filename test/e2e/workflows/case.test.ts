import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { AllocationActivities } from '../../../activities/index.js';
import { admissionWorkflowId, caseStart, envelopeChanged } from '../../../workflows/messages.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

let lab: Lab;
/** Put around the real activities by a test. */
let around: Partial<AllocationActivities> = {};

beforeAll(async () => {
  lab = await Lab.open();
  await lab.platform.startWorker(({ cases, local }) => {
    const allocation: AllocationActivities = {
      ...local,
      dispatch: (input) => (around.dispatch ?? local.dispatch)(input),
      finish: (input) => (around.finish ?? local.finish)(input),
      tryShort: (input) => (around.tryShort ?? local.tryShort)(input),
    };
    real = local;
    return { cases: { ...cases, ...allocation }, local: { ...local, ...allocation } };
  });
}, 2 * MINUTE);
let real: AllocationActivities;
beforeEach(() => {
  around = {};
});
afterAll(() => lab.close(), MINUTE);

const start = async (task: string) => startCase(await lab.submitRun(task));

async function startCase(runId: string, taskTimeoutMs = 10_000): Promise<{ runId: string; handle: WorkflowHandle }> {
  const input = { workspaceId: 'default', runId, caseId: runId, poolId: POOL, kind: 'local' as const };
  const rest = { class: 'interactive' as const, demand: {}, infraRetries: 0, attempt: 1 };
  const options = caseStart({ ...input, ...rest }, taskTimeoutMs);
  const handle = await lab.platform.client.workflow.start('caseWorkflow', {
    ...options,
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
  return { runId, handle };
}

const isFree = async () => {
  const { runId, handle } = await start('echo free');
  expect(await handle.result()).toBe('passed');
  return runId;
};

const phases: [string, string, () => Promise<unknown>][] = [
  ['while its job starts', 'sleep 60', async () => undefined],
  ['while its job runs', 'sleep 60', async () => sleep(4_000)],
];

test.each(phases)(
  'T09 a case cancelled %s ends cancelled, with its job gone and its slot back',
  async (_when, task, moment) => {
    const { runId, handle } = await start(task);
    await eventually('it is submitted', async () => (await lab.world.attempts.read(runId, 1))?.submittedAt);
    await moment();
    await lab.world.runs.requestCancel(runId);
    await handle.cancel();
    await handle.cancel();
    await handle.result().catch(() => undefined);
    expect(await lab.world.runs.guards(runId)).toMatchObject({ outcome: 'cancelled' });
    expect(await lab.liveAttempts()).toEqual([]);
    await isFree();
  },
  MINUTE,
);

test(
  'T09 a case cancelled while it waits leaves the queue, and one cancelled only in Temporal is settled too',
  async () => {
    const ledger = lab.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
    await ledger.signal(envelopeChanged, await lab.setSlots(1, '1.1.0'));
    const holder = await start('sleep 60');
    await eventually('it is submitted', async () => (await lab.world.attempts.read(holder.runId, 1))?.submittedAt);
    const waiting = await start('echo never');
    await eventually(
      'it waits',
      async () => (await lab.world.runs.find('default', waiting.runId))?.state === 'waiting',
    );
    await waiting.handle.cancel();
    await expect(waiting.handle.result()).rejects.toThrow();
    expect(await lab.world.runs.guards(waiting.runId)).toMatchObject({ outcome: 'cancelled' });

    await holder.handle.cancel();
    await holder.handle.result().catch(() => undefined);
    expect(await lab.world.runs.guards(holder.runId)).toMatchObject({ outcome: 'cancelled' });
    await isFree();
    await ledger.signal(envelopeChanged, await lab.setSlots(4, '1.2.0'));
  },
  MINUTE,
);

test(
  'T09 a cancel during clean-up, and a second one, change nothing',
  async () => {
    let isFinishing = false;
    around.tryShort = async () => ({ kind: 'running' });
    around.finish = async (input) => {
      isFinishing = true;
      await sleep(1_500);
      return real.finish(input);
    };
    const { runId, handle } = await start('echo done');
    await eventually('it finishes', async () => isFinishing);
    await handle.cancel();
    await handle.cancel();
    // The cancel makes the server repeat the workflow task, which then finds the run settled.
    expect(await handle.result()).toMatch(/^(passed|settled)$/);
    expect(await lab.world.runs.guards(runId)).toMatchObject({ outcome: 'passed' });
    expect(await lab.liveAttempts()).toEqual([]);
  },
  MINUTE,
);

test(
  'T07 after a missed heartbeat the second copy adopts the job, and the late first one changes nothing',
  async () => {
    let copies = 0;
    around.tryShort = async () => ({ kind: 'running' });
    around.dispatch = async (input) => {
      copies += 1;
      if (copies > 1) return real.dispatch(input);
      // Creates the job, then is silent for longer than the heartbeat time-out.
      const { kind } = await real.tryShort(input);
      await sleep(14_000);
      return kind === 'running' ? { kind: 'silent', detail: 'late' } : { kind: 'cancelled' };
    };
    const { runId, handle } = await start(lab.task('t07', 16));
    expect(await handle.result()).toBe('passed');
    expect(copies).toBe(2);
    expect(lab.noted('t07')).toEqual({ starts: 1, most: 1 });
    expect(await lab.world.attempts.list(runId)).toHaveLength(1);
  },
  2 * MINUTE,
);

test(
  'a local try whose workflow task was lost leaves the job to whoever has the case now',
  async () => {
    const runId = await lab.submitRun(lab.task('lost-task', 3));
    let first: Promise<unknown> | undefined;
    around.tryShort = (input) => {
      const tried = real.tryShort(input);
      first ??= tried.catch((error: unknown) => error);
      return tried;
    };
    // Told every 0.8 s that its workflow task goes on, the server says that there is none.
    await startCase(runId, 1_000);
    // A try lasts 2 s in all.
    await eventually('it is tried', async () => first !== undefined);
    const { handle } = await startCase(runId);

    expect(await first).toMatchObject({ type: 'HandedOver' });
    expect(await handle.result()).toBe('passed');
    expect(lab.noted('lost-task')).toEqual({ starts: 1, most: 1 });
  },
  MINUTE,
);

test('no workflow task failed in all of this', async () => {
  expect(await lab.platform.failedWorkflowTasks()).toEqual([]);
});
