import type { WorkflowHandle } from '@temporalio/client';
import type { AdmissionMessage, Demand, Grant, Ticket } from '../../../contracts/admission.js';
import { PoolView } from '../../../contracts/admission-view.js';
import { replay } from '../../../policy/admission/trace.js';
import {
  admissionRequested,
  admissionWorkflowId,
  caseStart,
  caseWorkflowId,
  decisionTrace,
  envelopeChanged,
  heldLeases,
  poolView,
  queuePage,
  TASK_QUEUES,
  waitingOf,
} from '../../../workflows/messages.js';
import { aTicket } from '../../builders.js';
import { POOL } from '../../integration/store/world.js';
import { eventually } from '../../temporal.js';
import { historyLengths } from '../../workflow-tasks.js';
import { Lab, MINUTE } from './lab.js';

let lab: Lab;
/** Every grant that was delivered, in order. */
const delivered: Grant[] = [];

beforeAll(async () => {
  lab = await Lab.open();
  await lab.platform.startWorker(({ control }) => ({
    control: {
      ...control,
      deliverGrants: async (input) => {
        const isOurs = input.grants.some(({ to }) => to.startsWith('nobody'));
        if (isOurs) {
          delivered.push(...input.grants);
          return { gone: [] };
        }
        return control.deliverGrants(input);
      },
      // The tickets of these tests belong to no workflow.
      findDeadHolders: async ({ leases, span }) =>
        control.findDeadHolders({ leases: leases.filter(({ to }) => !to.startsWith('nobody')), span }),
    },
  }));
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

const pool = admissionWorkflowId(POOL);
const handle = (): WorkflowHandle => lab.platform.client.workflow.getHandle(pool);
const send = (...messages: AdmissionMessage[]) =>
  lab.platform.client.workflow.signalWithStart('admissionWorkflow', {
    workflowId: pool,
    taskQueue: TASK_QUEUES.control,
    args: [{ poolId: POOL }],
    signal: admissionRequested,
    signalArgs: messages,
  });
const ticket = (holder: string): Ticket => aTicket({ holder, to: 'nobody' });
const acquire = (...holders: string[]): AdmissionMessage => ({ acquire: holders.map(ticket), release: [] });
/** Without a number: the holder is gone. */
const release = (holder: string, seq?: number): AdmissionMessage => ({
  acquire: [],
  release: [seq === undefined ? { holder, isGone: true } : { holder, seq }],
});
const seqsOf = (holder: string) => delivered.filter((grant) => grant.holder === holder).map(({ seq }) => seq);

test(
  'T05 a holder that asks three times has one lease, a foreign or repeated release changes nothing',
  async () => {
    await send(acquire('case:a'), acquire('case:a'), acquire('case:a'));
    await eventually('it is granted', async () => seqsOf('case:a').length >= 1);
    const [seq = 0] = seqsOf('case:a');
    await send(acquire('case:a'));
    await eventually('it is granted again', async () => seqsOf('case:a').length >= 2);
    expect(new Set(seqsOf('case:a'))).toEqual(new Set([seq]));

    await send(release('case:b', seq), release('case:a', seq + 1_000));
    await send(acquire('case:b', 'case:c', 'case:d', 'case:e'));
    await eventually('the others are granted', async () => seqsOf('case:d').length === 1);
    expect(seqsOf('case:e')).toEqual([]);
    const full = { reason: 'slots', scope: 'runtime here', limit: 4, used: 4 };
    expect(await handle().query(waitingOf, ['e', 'x'])).toEqual({ e: { ...full, ahead: 0 } });
    const view = await handle().query(poolView);
    expect(PoolView.parse(view)).toMatchObject({ inUse: { slots: 4 }, waiting: { batch: 1 } });
    expect(await handle().query(queuePage, { limit: 10 })).toMatchObject({ tickets: [{ run: 'e' }], next: null });

    await send(release('case:a', seq));
    await send(release('case:a', seq));
    await eventually('the freed slot is used once', async () => seqsOf('case:e').length === 1);
    await send(acquire('case:f'));
    await send(...['case:b', 'case:c', 'case:d', 'case:e', 'case:f'].map((holder) => release(holder)));
  },
  MINUTE,
);

test(
  'T03 acquires and releases from parallel clients lose nothing while the ledger continues as new',
  async () => {
    await handle().signal(envelopeChanged, await lab.setSlots(40, '1.0.1'));
    const { runId } = await handle().describe();
    const holders = Array.from({ length: 300 }, (_, i) => `case:t03-${i}`);
    const sendAll = async (messages: AdmissionMessage[]): Promise<void> => {
      for (let i = 0; i < messages.length; i += 30)
        await Promise.all(messages.slice(i, i + 30).map((one) => send(one)));
    };
    const asking = sendAll(holders.map((holder) => acquire(holder)));
    const released = new Set<string>();
    while (released.size < holders.length) {
      const held = holders.filter((holder) => seqsOf(holder).length > 0 && !released.has(holder));
      for (const holder of held) released.add(holder);
      // Each three times, as senders do that had no answer: 1,200 signals in all, across two limits of 500.
      await sendAll(held.flatMap((holder) => Array(3).fill(release(holder, seqsOf(holder)[0]))));
      await lab.pause(10);
    }
    await asking;
    for (const holder of holders) expect(new Set(seqsOf(holder)).size).toBe(1);
    await eventually('nothing is in use', async () => (await handle().query(heldLeases)).length === 0);
    const events = await historyLengths(lab.platform.client.workflow, pool, runId);
    expect(events.length).toBeGreaterThan(2);
    // A limit is 500 signals; a burst may pass it before the ledger is asked.
    expect(Math.max(...events)).toBeLessThan(2_000);
    await handle().signal(envelopeChanged, await lab.setSlots(4, '1.0.2'));
  },
  2 * MINUTE,
);

test(
  'lower limits let use only fall, and higher ones admit at once',
  async () => {
    await send(acquire('case:v1', 'case:v2', 'case:v3', 'case:v4', 'case:v5', 'case:v6'));
    await eventually('four are granted', async () => seqsOf('case:v4').length === 1);
    await handle().signal(envelopeChanged, await lab.setSlots(2, '1.1.0'));
    await send(release('case:v1'), release('case:v2'));
    await lab.pause(500);
    expect(seqsOf('case:v5')).toEqual([]);
    await send(release('case:v3'));
    await eventually('below the limit the next one starts', async () => seqsOf('case:v5').length === 1);
    expect(seqsOf('case:v6')).toEqual([]);
    await handle().signal(envelopeChanged, await lab.setSlots(4, '1.2.0'));
    await eventually('a raised limit admits', async () => seqsOf('case:v6').length === 1);
    await send(...[4, 5, 6].map((i) => release(`case:v${i}`)));
  },
  MINUTE,
);

test(
  'a terminated ledger rebuilds itself and keeps the capacity',
  async () => {
    const id = await lab.submit(Array.from({ length: 30 }, () => lab.task('rebuild', 0.8)));
    const root = await lab.start(id);
    for (let i = 0; i < 3; i += 1) {
      await eventually('jobs run', async () => lab.noted('rebuild').starts >= 4 + 6 * i);
      await handle().terminate('by a test');
    }
    await root.result();
    expect(await lab.world.scorecards.counts(id)).toMatchObject({ settled: 30, passed: 30 });
    expect(lab.noted('rebuild')).toEqual({ starts: 30, most: 4 });
    expect(await lab.liveAttempts()).toEqual([]);
  },
  2 * MINUTE,
);

/** The case of a run of its own. */
const startRun = (runId: string, demand: Demand = {}) => {
  const input = { workspaceId: 'default', runId, caseId: runId, poolId: POOL, kind: 'local' as const, demand };
  const rest = { class: 'interactive' as const, infraRetries: 0, attempt: 1 };
  return lab.platform.client.workflow.start('caseWorkflow', caseStart({ ...input, ...rest }, 10_000));
};

test(
  'F53 limits that fall below what waiting work asks for end it with both numbers, and nothing else',
  async () => {
    await handle().signal(envelopeChanged, await lab.setSlots(4, '1.2.1', 1_000));
    const running = await lab.submitRun(lab.heldTask('f53'), { memoryMb: 600 });
    await startRun(running, { memoryMb: 600 });
    await eventually('it runs', async () => lab.noted('f53').starts === 1);

    const heavy = await lab.submit(['echo heavy', 'echo heavy'], { fallback: { memoryMb: 700 } });
    const root = await lab.start(heavy);
    const [large, fitting] = [
      await lab.submitRun('echo large', { memoryMb: 800 }),
      await lab.submitRun('echo fits', { memoryMb: 600 }),
    ];
    const [refused, later] = [await startRun(large, { memoryMb: 800 }), await startRun(fitting, { memoryMb: 600 })];
    await eventually('all wait', async () => (await handle().query(queuePage, { limit: 9 })).total === 4);
    await handle().signal(envelopeChanged, await lab.setSlots(4, '1.2.2', 650));
    expect(await refused.result()).toBe('settled');
    await root.result();
    const errored = { outcome: 'errored', errorCode: 'DEMAND_EXCEEDS_ENVELOPE' };
    for (const [run, asked] of [
      [large, 800],
      [`${heavy}.0`, 700],
      [`${heavy}.1`, 700],
    ] as const) {
      const reason = expect.stringMatching(`${asked} MB.*650`);
      expect(await lab.world.runs.find('default', run)).toMatchObject({ ...errored, reason });
    }
    const memory = { reason: 'memory', scope: 'runtime here', limit: 650, used: 600, ahead: 0 };
    expect(await handle().query(waitingOf, [fitting])).toEqual({ [fitting]: memory });
    lab.release('f53');
    expect(await later.result()).toBe('passed');
    expect(await lab.world.runs.guards(running)).toMatchObject({ outcome: 'passed' });
  },
  MINUTE,
);

test(
  'an attempt that lost its lease has it again once somebody looks, and gives it back at its end',
  async () => {
    const run = await lab.submitRun(lab.heldTask('adopted'));
    const held = () => handle().query(heldLeases);
    const running = await startRun(run);
    await eventually('it runs', async () => lab.noted('adopted').starts === 1);
    const [lease] = await held();
    expect(lease).toMatchObject({ holder: caseWorkflowId(run) });
    await send(release(caseWorkflowId(run), lease?.seq));
    await eventually('its lease is lost', async () => (await held()).length === 0);
    await lab.world.dataSource.query(`UPDATE attempts SET opened_at = opened_at - interval '61 seconds'`);
    await send({ acquire: [], release: [] });
    await eventually('its lease is back', async () => (await held()).some(({ seq }) => seq === lease?.seq));
    lab.release('adopted');
    expect(await running.result()).toBe('passed');
    await eventually('nothing is in use', async () => (await held()).length === 0);
  },
  MINUTE,
);

test(
  'T01 a single run terminated while it holds the only slot is cleaned up, and the next one is admitted',
  async () => {
    await handle().signal(envelopeChanged, await lab.setSlots(1, '1.3.0'));
    const [first, second] = [await lab.submitRun(lab.task('t01', 60)), await lab.submitRun('echo next')];
    await startRun(first);
    await eventually('it runs', async () => lab.noted('t01').starts === 1);
    const waiting = await startRun(second);
    await lab.platform.client.workflow.getHandle(caseWorkflowId(first)).terminate('by a test');
    expect(await waiting.result()).toBe('passed');
    expect(await lab.world.runs.guards(first)).toMatchObject({ outcome: 'errored' });
    expect(await lab.liveAttempts()).toEqual([]);
    await handle().signal(envelopeChanged, await lab.setSlots(4, '1.4.0'));
  },
  2 * MINUTE,
);

test('its last decisions are made again by the policy alone', async () => {
  const trace = await handle().query(decisionTrace);
  const granted = trace.steps.flatMap((step) => (step.did === 'decide' ? [step.granted] : []));
  expect(granted.flat()).not.toEqual([]);
  expect(replay(trace)).toEqual(granted);
});

test('no workflow task failed in all of this', async () => {
  const failed = await lab.platform.failedWorkflowTasks();
  // More than 100 signals within one workflow task: the server cuts that task short, and repeats it.
  expect(failed.filter((reason) => !/^admission:.* cause 17/.test(reason))).toEqual([]);
});
