import type { RequestedTicket } from '../../../activities/admission.activities.js';
import type { Grant } from '../../../contracts/admission.js';
import { carryLedger } from '../../../policy/admission/carry.js';
import { Ledger } from '../../../policy/admission/ledger.js';
import { type OpenRun, packPartition } from '../../../policy/partition.js';
import {
  admissionRequested,
  admissionWorkflowId,
  type CaseInput,
  caseStart,
  caseWorkflowId,
  slotsGranted,
  TASK_QUEUES,
} from '../../../workflows/messages.js';
import { type Activities, TimeMachine } from '../../time-skipping.js';
import { historyLengths } from '../../workflow-tasks.js';

const MINUTE = 60_000;
const HOUR_SEC = 3_600;
const DAY_SEC = 24 * HOUR_SEC;
const POOL = 'rt:default:cluster';

let time: TimeMachine;

beforeEach(async () => {
  time = await TimeMachine.open();
}, 2 * MINUTE);
afterEach(() => time.close(), MINUTE);

let made = 0;
const newRunId = (): string => {
  made += 1;
  return `sc_00000000000000000000000000.${made}`;
};

const aCaseInput = (parts: Partial<CaseInput> = {}): CaseInput => ({
  workspaceId: 'default',
  runId: newRunId(),
  caseId: 'a case',
  poolId: POOL,
  kind: 'nomad',
  class: 'batch',
  demand: {},
  infraRetries: 2,
  attempt: 1,
  ...parts,
});

/** A world in which everything passes and nobody is ever granted a slot, unless a test says otherwise. */
class World {
  readonly asked: { at: number; tickets: RequestedTicket[] }[] = [];
  readonly released: string[] = [];
  readonly settled: string[] = [];
  overQuota = 0;
  grantAt: (ticket: RequestedTicket, asks: number) => boolean = () => false;
  private seq = 0;

  readonly activities: Partial<Activities> = {
    requestAdmission: async ({ acquire, release }) => {
      this.released.push(...release.map(({ holder }) => holder));
      this.overQuota += release.filter(({ isOverQuota }) => isOverQuota).length;
      if (acquire.length === 0) return { settled: [] };
      this.asked.push({ at: await time.now(), tickets: acquire });
      for (const ticket of acquire) if (this.grantAt(ticket, this.asked.length)) await this.grant(ticket);
      return { settled: [] };
    },
    settleUnplaced: async ({ runId, end }) => {
      this.settled.push(end.kind === 'errored' ? `${runId} ${end.code}` : `${runId} cancelled`);
    },
    dispatch: async () => ({ kind: 'record' }),
    finish: async () => ({ kind: 'settled', outcome: 'passed' }),
  };

  async grant({ to, holder }: RequestedTicket): Promise<void> {
    this.seq += 1;
    const grants: Grant[] = [{ holder, seq: this.seq, epoch: 1 }];
    await time.client.getHandle(to).signal(slotsGranted, grants);
  }
}

/** On the server's clock. */
async function tookMs(workflowId: string): Promise<number> {
  const { startTime, closeTime } = await time.client.getHandle(workflowId).describe();
  return Number(closeTime) - Number(startTime);
}

const runCase = (input: CaseInput) => time.client.execute('caseWorkflow', caseStart(input, 10_000));

test(
  'a case asks again after a minute without a grant, then ever more slowly, and starts once it is granted',
  async () => {
    const world = new World();
    world.grantAt = (_, asks) => asks === 6;
    await expect(time.serving(world.activities, () => runCase(aCaseInput()))).resolves.toBe('passed');
    expect(world.asked).toHaveLength(6);
    const [first] = world.asked;
    expect(world.asked.every(({ tickets }) => tickets[0]?.askedAt === first?.tickets[0]?.askedAt)).toBe(true);
  },
  MINUTE,
);

test(
  'a case that waited longer than the queue deadline is settled with the time it waited, and its ticket goes back',
  async () => {
    const world = new World();
    const input = aCaseInput({ queueDeadlineSec: DAY_SEC });
    await expect(time.serving(world.activities, () => runCase(input))).resolves.toBe('errored');
    expect(world.settled).toEqual([`${input.runId} QUEUE_TIMEOUT`]);
    expect(world.released).toEqual([caseWorkflowId(input.runId)]);
    // 1, 2, 4, 8, 16 minutes, then every half hour of a day.
    expect(world.asked.length).toBeLessThan(60);
  },
  MINUTE,
);

test(
  'a runtime that was paused for a while grants when that ends, with nobody telling it to',
  async () => {
    const until = (await time.now()) + 427_500;
    const dial = { mode: 'paused' as const, limits: {}, until };
    const limits = { envelope: { slots: 1 }, dial, workspaces: {}, pausedScorecards: [] };
    const granted: number[] = [];
    const activities: Partial<Activities> = {
      ...new World().activities,
      requestAdmission: async ({ poolId, acquire, release }) => {
        const tickets = acquire.map((ticket) => ({ ...ticket, workspace: 'default' }));
        await time.client.signalWithStart('admissionWorkflow', {
          ...{ workflowId: admissionWorkflowId(poolId), taskQueue: TASK_QUEUES.control, args: [{ poolId }] },
          ...{ signal: admissionRequested, signalArgs: [{ acquire: tickets, release }] },
        });
        return { settled: [] };
      },
      rebuildLedger: async () => carryLedger(Ledger.open(1, [], [])),
      readEnvelope: async () => ({ ...limits, version: 1, kind: 'nomad', epoch: 1 }),
      findDeadHolders: async () => ({ dead: [] }),
      deliverGrants: async ({ grants }) => {
        granted.push(await time.now());
        for (const { to, ...grant } of grants) await time.client.getHandle(to).signal(slotsGranted, [grant]);
        return { gone: [] };
      },
    };
    await expect(time.serving(activities, () => runCase(aCaseInput()))).resolves.toBe('passed');
    await time.client.getHandle(admissionWorkflowId(POOL)).terminate('by a test');
    const [at = 0] = granted;
    expect(at - until).toBeGreaterThanOrEqual(0);
    expect(at - until).toBeLessThan(2_000);
  },
  MINUTE,
);

test(
  'a stale grant is given back and asked for anew; one over quota goes back with the next request',
  async () => {
    const world = new World();
    world.grantAt = () => true;
    const refusals = [{ reason: 'stale-grant' }, { reason: 'quota', limit: 3 }, { reason: 'stale-grant' }] as const;
    let calls = 0;
    const dispatch: Activities['dispatch'] = async () => {
      const refusal = refusals[calls];
      calls += 1;
      return refusal ? { kind: 'refused', refusal } : { kind: 'record' };
    };
    const input = aCaseInput({ grant: { seq: 77, epoch: 0 } });
    await expect(time.serving({ ...world.activities, dispatch }, () => runCase(input))).resolves.toBe('passed');
    expect(calls).toBe(4);
    expect(world.released).toHaveLength(3);
    expect(world.overQuota).toBe(1);
    expect(world.asked).toHaveLength(3);
  },
  MINUTE,
);

test(
  'a renumbered attempt goes on under its number, and one that is settled ends the case',
  async () => {
    const world = new World();
    const attempts: number[] = [];
    const dispatch: Activities['dispatch'] = async ({ attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) return { kind: 'refused', refusal: { reason: 'renumber', attempt: 3, isOpen: true } };
      return { kind: 'refused', refusal: { reason: 'settled' } };
    };
    const input = aCaseInput({ grant: { seq: 1, epoch: 1 } });
    await expect(time.serving({ ...world.activities, dispatch }, () => runCase(input))).resolves.toBe('settled');
    expect(attempts).toEqual([1, 3]);
    expect(world.released).toEqual([caseWorkflowId(input.runId)]);
  },
  MINUTE,
);

test(
  'infrastructure that breaks costs an attempt: the slot goes back, a new one is asked for after the back-off',
  async () => {
    const world = new World();
    world.grantAt = () => true;
    const finished: number[] = [];
    const finish: Activities['finish'] = async ({ attempt }) => {
      finished.push(attempt);
      return attempt < 3
        ? { kind: 'retry', code: 'NODE_LOST', delayMs: HOUR_SEC * 1_000 }
        : { kind: 'settled', outcome: 'passed' };
    };
    const input = aCaseInput({ grant: { seq: 1, epoch: 1 } });
    await expect(time.serving({ ...world.activities, finish }, () => runCase(input))).resolves.toBe('passed');
    expect(finished).toEqual([1, 2, 3]);
    expect(world.asked).toHaveLength(2);
  },
  MINUTE,
);

test(
  'an error of the code itself is not repeated: the case settles as PLATFORM_ERROR',
  async () => {
    const world = new World();
    const ends: unknown[] = [];
    const dispatch: Activities['dispatch'] = async () => {
      throw new TypeError('not a function');
    };
    const finish: Activities['finish'] = async ({ end }) => {
      ends.push(end);
      return { kind: 'settled', outcome: 'errored' };
    };
    const input = aCaseInput({ grant: { seq: 1, epoch: 1 } });
    await expect(time.serving({ ...world.activities, dispatch, finish }, () => runCase(input))).resolves.toBe(
      'errored',
    );
    expect(ends).toEqual([{ kind: 'failed', failure: { code: 'PLATFORM_ERROR', message: 'not a function' } }]);
  },
  MINUTE,
);

test(
  'a window waits for two weeks over several histories, and runs its cases once slots come',
  async () => {
    const world = new World();
    const begun = await time.now();
    const scorecardId = 'sc_11111111111111111111111111';
    const open = new Set(['0', '1', '2']);
    world.grantAt = (_, asks) => asks > 700;
    const listPartition: Activities['listPartition'] = async () =>
      packPartition(
        [...open].map((ordinal) => ({
          ...{ runId: `${scorecardId}.${ordinal}`, caseId: 'a case', poolId: POOL, kind: 'nomad', class: 'batch' },
          ...{ demand: {}, infraRetries: 0, attempt: 1, isCancelRequested: false },
        })),
        30 * DAY_SEC,
      );
    const finish: Activities['finish'] = async ({ runId }) => {
      open.delete(runId.split('.')[1] ?? '');
      return { kind: 'settled', outcome: 'passed' };
    };
    const input = { workspaceId: 'default', scorecardId, index: 0, width: 20, isCapped: false, reportStep: 5 };
    const events = await time.serving({ ...world.activities, listPartition, finish }, async () => {
      const window = await time.client.start('windowWorkflow', {
        args: [input],
        workflowId: `window:${scorecardId}:0`,
        taskQueue: TASK_QUEUES.control,
      });
      await window.result();
      return historyLengths(time.client, window.workflowId, window.firstExecutionRunId);
    });
    expect(open).toEqual(new Set());
    expect((await time.now()) - begun).toBeGreaterThan(14 * DAY_SEC * 1_000);
    // 1, 2, 4, 8, 16 minutes without a grant, then every half hour.
    const minutes = world.asked.slice(1).map(({ at }, i) => Math.round((at - (world.asked[i]?.at ?? 0)) / MINUTE));
    expect(minutes.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    expect(Math.max(...minutes)).toBe(30);
    // A history ends at 4,000 events; the tickets go back, and the next one asks anew.
    expect(events.length).toBeGreaterThan(1);
    expect(Math.max(...events)).toBeLessThan(4_100);
    expect(Math.min(...events.slice(0, -1))).toBeGreaterThanOrEqual(4_000);
    const holders = ['0', '1', '2'].map((ordinal) => caseWorkflowId(`${scorecardId}.${ordinal}`));
    expect(world.released).toEqual(events.slice(1).flatMap(() => holders));
  },
  5 * MINUTE,
);

test(
  'a window that begins anew goes on counting from when its runs first asked',
  async () => {
    const world = new World();
    const scorecardId = 'sc_33333333333333333333333333';
    const begun = await time.now();
    const run: OpenRun = {
      ...{ runId: `${scorecardId}.0`, caseId: 'a case', poolId: POOL },
      ...{ kind: 'nomad', class: 'batch', demand: {}, infraRetries: 0, attempt: 1, isCancelRequested: false },
      askedAt: begun - (DAY_SEC - HOUR_SEC) * 1_000,
    };
    const listPartition: Activities['listPartition'] = async () =>
      packPartition(world.settled.length > 0 ? [] : [run], DAY_SEC);
    const input = { workspaceId: 'default', scorecardId, index: 0, width: 20, isCapped: false, reportStep: 5 };
    await time.serving({ ...world.activities, listPartition }, () =>
      time.client.execute('windowWorkflow', {
        args: [input],
        workflowId: `window:${scorecardId}:0`,
        taskQueue: TASK_QUEUES.control,
      }),
    );
    expect(world.settled).toEqual([`${run.runId} QUEUE_TIMEOUT`]);
    expect(await tookMs(`window:${scorecardId}:0`)).toBeLessThan(2 * HOUR_SEC * 1_000);
  },
  MINUTE,
);

test(
  'E13 a removal that is never confirmed ends the case after 10 minutes, and goes on as pending',
  async () => {
    const world = new World();
    const abandoned: string[] = [];
    const finish: Activities['finish'] = async () => {
      throw new Error('the cluster does not answer');
    };
    const abandonAttempt: Activities['abandonAttempt'] = async ({ runId, failure }) => {
      abandoned.push(`${runId} ${failure.code}`);
      return { kind: 'settled', outcome: 'passed' };
    };
    const input = aCaseInput({ grant: { seq: 1, epoch: 1 } });
    const activities = { ...world.activities, finish, abandonAttempt };
    await expect(time.serving(activities, () => runCase(input))).resolves.toBe('passed');
    expect(abandoned).toEqual([`${input.runId} PLATFORM_ERROR`]);
    expect(await tookMs(caseWorkflowId(input.runId))).toBeLessThan(HOUR_SEC * 1_000);
  },
  MINUTE,
);

test(
  'a window settles tickets that waited too long, each with QUEUE_TIMEOUT',
  async () => {
    const world = new World();
    const scorecardId = 'sc_22222222222222222222222222';
    const listPartition: Activities['listPartition'] = async () =>
      packPartition(
        world.settled.length > 0
          ? []
          : [0, 1].map((ordinal) => ({
              ...{ runId: `${scorecardId}.${ordinal}`, caseId: 'a case', poolId: POOL, kind: 'nomad', class: 'batch' },
              ...{ demand: {}, infraRetries: 0, attempt: 1, isCancelRequested: false },
            })),
        DAY_SEC,
      );
    const input = { workspaceId: 'default', scorecardId, index: 0, width: 20, isCapped: false, reportStep: 5 };
    await time.serving({ ...world.activities, listPartition }, () =>
      time.client.execute('windowWorkflow', {
        args: [input],
        workflowId: `window:${scorecardId}:0`,
        taskQueue: TASK_QUEUES.control,
      }),
    );
    expect(world.settled).toEqual([`${scorecardId}.0 QUEUE_TIMEOUT`, `${scorecardId}.1 QUEUE_TIMEOUT`]);
    expect(world.released).toEqual([caseWorkflowId(`${scorecardId}.0`), caseWorkflowId(`${scorecardId}.1`)]);
  },
  MINUTE,
);
