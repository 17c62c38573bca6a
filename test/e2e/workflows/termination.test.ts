import { existsSync } from 'node:fs';
import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { jobPaths } from '../../../backends/local/local.state.js';
import { PlatformError } from '../../../contracts/errors.js';
import { allocationName } from '../../../policy/naming.js';
import { admissionWorkflowId, caseStart, caseWorkflowId, windowWorkflowId } from '../../../workflows/messages.js';
import { aRecord } from '../../builders.js';
import { POOL } from '../../integration/store/world.js';
import { aLocalJob } from '../../local-jobs.js';
import { eventually, type TestWorker } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

const SLOTS = 12;

let lab: Lab;
let worker: TestWorker;
/** Whether nothing can be cleaned up now; `refused`: and trying again is of no use. */
let away: 'unreachable' | 'refused' | undefined;

beforeAll(async () => {
  lab = await Lab.open({ EVERDICT_SWEEP_SEC: '1' });
  await lab.setSlots(SLOTS, '1.1.0');
  await lab.countRepeatedSettles();
  worker = await lab.platform.startWorker(({ local }) => ({
    local: {
      ...local,
      reclaim: (input) => {
        if (away === 'unreachable') throw new PlatformError('CLUSTER_UNREACHABLE', 'it does not answer a test');
        if (away === 'refused') throw new PlatformError('NAME_TAKEN', 'it is not ours in a test');
        return local.reclaim(input);
      },
    },
  }));
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

type Part = 'root' | 'window' | 'case';

/** One may end before its own turn, along with its parent. */
const terminate = (workflowId: string): Promise<unknown> =>
  lab.platform.client.workflow
    .getHandle(workflowId)
    .terminate('by a test')
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });

const idOf = (part: Part, scorecardId: string): string => {
  if (part === 'root') return `scorecard:${scorecardId}`;
  return part === 'window' ? windowWorkflowId(scorecardId, 0) : caseWorkflowId(`${scorecardId}.1`);
};

/** Scorecards of a quick case, which is done, and some that run until they are released. */
async function underWay(file: string, number: number, held = 2): Promise<{ id: string; root: WorkflowHandle }[]> {
  const tasks = ['echo quick', ...Array.from({ length: held }, () => lab.heldTask(file))];
  const started: { id: string; root: WorkflowHandle }[] = [];
  for (let i = 0; i < number; i += 1) {
    const id = await lab.submit(tasks);
    started.push({ id, root: await lab.start(id) });
  }
  await eventually('all cases run', async () => {
    const counts = await Promise.all(started.map(({ id }) => lab.world.scorecards.counts(id)));
    return lab.noted(file).starts === held * number && counts.every((count) => count?.passed === 1);
  });
  return started;
}

const statusOf = async (id: string) => (await lab.world.scorecards.find('default', id))?.status;

async function expectNothingLeft(): Promise<void> {
  await eventually('every slot is free', () => lab.isLedgerEmpty());
  expect(await lab.liveAttempts()).toEqual([]);
  expect(await lab.repeatedSettles()).toBe(0);
}

test.each([
  ['alone', []],
  ['together with the ledger', [admissionWorkflowId(POOL)]],
])(
  'terminated %s, a case, a window, or both are brought to one end by their root, with the capacity kept',
  async (_title, others) => {
    const file = `survives-${others.length}`;
    const parts: Part[][] = [['case'], ['window'], ['window', 'case'], []];
    const started = await underWay(file, parts.length);
    const victims = started.flatMap(({ id }, i) => (parts[i] ?? []).map((part) => idOf(part, id)));
    await Promise.all([...victims, ...others].map(terminate));
    const lost = `${started[0]?.id}.1`;
    await eventually('the case is settled', async () => (await lab.world.runs.guards(lost))?.outcome);
    lab.release(file);
    await Promise.all([...started.map(({ root }) => root.result()), lab.sweep(), lab.sweep()]);

    const outcomes = await Promise.all(started.map(({ id }) => lab.world.scorecards.counts(id)));
    expect(outcomes.map((count) => [count?.passed, count?.infraErrors])).toEqual([
      [2, 1],
      [3, 0],
      [3, 0],
      [3, 0],
    ]);
    // The job of the terminated case notes no end.
    expect(lab.noted(file)).toEqual({ starts: 8, most: 8 });
    await expectNothingLeft();
  },
  2 * MINUTE,
);

test.each([
  ['alone', []],
  ['together with the ledger', [admissionWorkflowId(POOL)]],
])(
  'terminated %s, a root with or without its window and a case is closed by a sweep: results stay, nothing else',
  async (_title, others) => {
    const file = `gone-${others.length}`;
    const parts: Part[][] = [['root'], ['root', 'window'], ['root', 'case'], ['root', 'window', 'case']];
    const started = await underWay(file, parts.length);
    const bystander = await lab.submit(['echo one', 'sleep 3']);
    const healthy = await lab.start(bystander);
    const victims = started.flatMap(({ id }, i) => (parts[i] ?? []).map((part) => idOf(part, id)));
    await Promise.all([...victims, ...others].map(terminate));
    await eventually('all are swept', async () => {
      await lab.sweep();
      return (await Promise.all(started.map(({ id }) => statusOf(id)))).every((status) => status === 'completed');
    });

    for (const { id } of started) {
      expect(await lab.world.scorecards.counts(id)).toMatchObject({
        settled: 3,
        passed: 1,
        errored: 2,
        infraErrors: 2,
      });
      expect(await lab.world.runs.find('default', `${id}.1`)).toMatchObject({ errorCode: 'PLATFORM_TERMINATED' });
    }
    await healthy.result();
    expect(await lab.world.scorecards.counts(bystander)).toMatchObject({ settled: 2, passed: 2 });
    await expectNothingLeft();
  },
  2 * MINUTE,
);

test(
  'a case that its window could not clean up after is not lost: it goes on, or a sweep settles it when the root is gone, too',
  async () => {
    const file = 'given-up';
    const [kept, gone] = await underWay(file, 2, 1);
    if (!kept || !gone) throw new Error('not both were started');
    const cases = [kept, gone].map(({ id }) => idOf('case', id));
    const isRunning = async (workflowId: string) =>
      (await lab.platform.client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
    away = 'refused';
    await Promise.all(cases.map(terminate));
    await eventually('both run again', async () => (await Promise.all(cases.map(isRunning))).every(Boolean));
    await eventually('both keep their slots', async () =>
      (await lab.ledgerDetails()).startsWith('2 of 12 slots in use'),
    );
    await terminate(idOf('root', gone.id));
    away = undefined;
    await eventually('it is swept', async () => {
      await lab.sweep();
      return (await statusOf(gone.id)) === 'completed';
    });
    lab.release(file);
    await kept.root.result();

    expect(await lab.world.scorecards.counts(kept.id)).toMatchObject({ settled: 2, passed: 2 });
    expect(await lab.world.scorecards.counts(gone.id)).toMatchObject({ settled: 2, passed: 1, infraErrors: 1 });
    expect(lab.noted(file).starts).toBe(2);
    await expectNothingLeft();
  },
  2 * MINUTE,
);

async function startSingle(task: string): Promise<string> {
  const runId = await lab.submitRun(task);
  const input = { workspaceId: 'default', runId, caseId: runId, poolId: POOL, kind: 'local' as const };
  const rest = { class: 'interactive' as const, demand: {}, infraRetries: 0, attempt: 1 };
  await lab.platform.client.workflow.start('caseWorkflow', caseStart({ ...input, ...rest }, 10_000));
  return runId;
}

const runs = (runId: string) =>
  eventually('it runs', async () => (await lab.world.attempts.read(runId, 1))?.submittedAt !== undefined);

test(
  'runs of their own whose cases are terminated end by one sweep: as cancelled, by the record, or as terminated',
  async () => {
    const [plain, cancelled, recorded] = [
      await startSingle('sleep 60'),
      await startSingle('sleep 60'),
      await startSingle('sleep 60'),
    ];
    for (const runId of [plain, cancelled, recorded]) await runs(runId);
    const waiting = await lab.submitRun('echo never started');
    await Promise.all([plain, cancelled, recorded].map((runId) => terminate(caseWorkflowId(runId))));
    await lab.world.runs.requestCancel(cancelled);
    await lab.world.attempts.recordEnd(recorded, 1, { kind: 'record' }, aRecord({ status: 0 }));

    expect(await lab.sweep()).toMatchObject({ reclaimed: 3, stuck: 0, runs: 1 });
    const found = await Promise.all(
      [plain, cancelled, recorded, waiting].map((runId) => lab.world.runs.find('default', runId)),
    );
    expect(found.map((run) => run?.errorCode ?? run?.outcome)).toEqual([
      'PLATFORM_TERMINATED',
      'cancelled',
      'passed',
      'PLATFORM_TERMINATED',
    ]);
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'E13 what cannot be cleaned up settles all the same, is shown as pending, and is tried again until it is gone',
  async () => {
    const runId = await startSingle('sleep 60');
    await runs(runId);
    away = 'unreachable';
    await terminate(caseWorkflowId(runId));
    expect(await lab.sweep()).toMatchObject({ reclaimed: 0, stuck: 1 });
    const state = async () => (await lab.world.attempts.list(runId))[0]?.state;
    expect(await lab.world.runs.find('default', runId)).toMatchObject({ errorCode: 'PLATFORM_TERMINATED' });
    expect(await state()).toBe('cleanup_pending');
    away = undefined;
    expect(await lab.sweep()).toMatchObject({ reclaimed: 1, stuck: 0 });
    expect(await state()).toBe('closed');
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'a job that a zombie made after its attempt was closed is stopped and removed; other jobs are left alone',
  async () => {
    const { EVERDICT_DEPLOYMENT: deployment, EVERDICT_STATE_DIR: stateDir } = lab.platform.env;
    const ended = await startSingle('echo done');
    await eventually('it is closed', async () => (await lab.world.attempts.list(ended))[0]?.state === 'closed');
    const open = await startSingle('sleep 60');
    await runs(open);
    const [zombie, unknown, foreign] = [
      allocationName(deployment, ended, 1),
      allocationName(deployment, `run_${'0'.repeat(26)}`, 1),
      allocationName(`x${deployment}`, ended, 1),
    ];
    const backend = await lab.backend();
    for (const name of [zombie, unknown, foreign]) await backend.submit(aLocalJob('sleep 60'), { name, nonce: 'cafe' });
    const exists = (name: string) => existsSync(jobPaths(stateDir, name).dir);

    await eventually('both are found', async () => {
      await lab.sweep();
      return !exists(zombie) && !exists(unknown);
    });
    expect([foreign, allocationName(deployment, open, 1)].map(exists)).toEqual([true, true]);
    await backend.stop({ name: foreign, nonce: '' });
    await lab.platform.client.workflow.getHandle(caseWorkflowId(open)).cancel();
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'sweeps come by a schedule, which workers bring back if it was deleted',
  async () => {
    const [first] = await underWay('scheduled', 1);
    if (!first) throw new Error('nothing was started');
    await first.root.terminate('by a test');
    await worker.sweeps.keep();
    await worker.sweeps.keep();
    await eventually('a sweep ended it', async () => (await statusOf(first.id)) === 'completed');

    const schedule = lab.platform.client.schedule.getHandle('everdict-sweep');
    await schedule.delete();
    await worker.sweeps.keep();
    const taken = async () => (await schedule.describe()).info.numActionsTaken;
    await eventually('it sweeps again', async () => (await taken()) >= 2);
    await schedule.delete();
    await expectNothingLeft();
  },
  MINUTE,
);

test('no workflow task failed in all of this', async () => {
  expect(await lab.platform.failedWorkflowTasks()).toEqual([]);
});
