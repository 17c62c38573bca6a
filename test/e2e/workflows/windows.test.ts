import type { Grant } from '../../../contracts/admission.js';
import { packPartition } from '../../../policy/partition.js';
import { runPromoted, scorecardStart, slotsGranted, WINDOW_CASES } from '../../../workflows/messages.js';
import { eventually } from '../../eventually.js';
import { type Activities, TimeMachine } from '../../time-skipping.js';

const MINUTE = 60_000;
const TOTAL = 2 * WINDOW_CASES + 60;
const POOL = 'rt:default:cluster';
const SCORECARD = 'sc_33333333333333333333333333';
const PROMOTED = 'sc_44444444444444444444444444';

let time: TimeMachine;

beforeEach(async () => {
  time = await TimeMachine.open();
}, 2 * MINUTE);
afterEach(() => time.close(), MINUTE);

/** A pool that grants whatever is asked for, and counts what is asked for and not finished yet. */
class Pool {
  readonly settled = new Set<number>();
  promoted: number | undefined;
  most = 0;
  private readonly inFlight = new Set<string>();
  private seq = 0;
  private openLast: () => void = () => undefined;
  /** A case of the last partition has begun. */
  private readonly lastBegan = new Promise<void>((resolve) => {
    this.openLast = resolve;
  });

  readonly activities: Partial<Activities> = {
    planScorecard: async () => ({ total: TOTAL, slots: 10, isCancelRequested: false }),
    listPartition: async ({ index }) => {
      const last = Math.min(TOTAL, (index + 1) * WINDOW_CASES);
      const ordinals = Array.from({ length: last - index * WINDOW_CASES }, (_, i) => index * WINDOW_CASES + i);
      return packPartition(
        ordinals.flatMap((ordinal) => (this.settled.has(ordinal) ? [] : [aRun(ordinal, ordinal === this.promoted)])),
        3_600,
      );
    },
    requestAdmission: async ({ acquire }) => {
      const [first] = acquire;
      if (!first) return { settled: [] };
      for (const { holder } of acquire) this.inFlight.add(holder);
      this.most = Math.max(this.most, this.inFlight.size);
      const grants = acquire.map(({ holder }): Grant => ({ holder, seq: this.nextSeq(), epoch: 1 }));
      await time.client.getHandle(first.to).signal(slotsGranted, grants);
      return { settled: [] };
    },
    dispatch: async ({ runId }) => {
      if (ordinalOf(runId) >= 2 * WINDOW_CASES) this.openLast();
      // One case of the first partition runs for as long as all the others take.
      if (ordinalOf(runId) === 7) await this.lastBegan;
      return { kind: 'record' };
    },
    finish: async ({ runId, holder }) => {
      this.settled.add(ordinalOf(runId));
      this.inFlight.delete(holder);
      return { kind: 'settled', outcome: 'passed' };
    },
    completeScorecard: async () => this.settled.size === TOTAL,
  };

  private nextSeq(): number {
    this.seq += 1;
    return this.seq;
  }
}

const ordinalOf = (runId: string): number => Number(runId.split('.')[1]);
const aRun = (ordinal: number, isPromoted = false) => ({
  runId: `${SCORECARD}.${ordinal}`,
  caseId: `case-${ordinal}`,
  poolId: POOL,
  kind: 'nomad' as const,
  class: 'batch' as const,
  demand: {},
  infraRetries: 0,
  attempt: 1,
  isCancelRequested: false,
  ...(isPromoted && { isPromoted: true as const }),
});

test(
  'over several windows, one slow case holds nothing up and no more than the budget is in flight',
  async () => {
    const pool = new Pool();
    const start = scorecardStart({ workspaceId: 'default', scorecardId: SCORECARD, total: TOTAL }, 10_000);
    const events = await time.serving(pool.activities, async () => {
      const root = await time.client.start('scorecardWorkflow', start);
      await root.result();
      return (await root.fetchHistory()).events?.length ?? 0;
    });
    expect(pool.settled.size).toBe(TOTAL);
    expect(pool.most).toBeLessThanOrEqual(20);
    expect(events).toBeLessThan(200);
  },
  5 * MINUTE,
);

test(
  'a promoted run of a partition that is not open yet is begun next, although all width is in use',
  async () => {
    const pool = new Pool();
    const begun: number[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const dispatch: Activities['dispatch'] = async ({ runId }) => {
      begun.push(ordinalOf(runId));
      await held;
      return { kind: 'record' };
    };
    const start = scorecardStart({ workspaceId: 'default', scorecardId: PROMOTED, total: TOTAL }, 10_000);
    await time.serving({ ...pool.activities, dispatch }, async () => {
      const root = await time.client.start('scorecardWorkflow', start);
      try {
        await eventually('the width is used up', async () => begun.length === 20);
        pool.promoted = TOTAL - 3;
        await root.signal(runPromoted, `${PROMOTED}.${pool.promoted}`);
        await eventually('the promoted one begins', async () => begun.includes(TOTAL - 3));
      } finally {
        await root.terminate('by a test');
        release();
      }
    });
    expect(begun.filter((ordinal) => ordinal >= WINDOW_CASES)).toEqual([TOTAL - 3]);
  },
  MINUTE,
);
