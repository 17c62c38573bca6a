import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { randomFor, SEED } from '../seeded.js';
import { leftAtRest } from './at-rest.js';
import { attemptNotes } from './attempt-notes.js';
import type { JobDemand } from './job-ledger.js';
import { ledgerFaults } from './ledger-checker.js';
import { LimitsLog } from './limits-log.js';
import { loseJob, POINTS, type Point, type Seen, unsettled } from './points.js';
import { inWorkspace, SharedSite } from './shared-site.js';

const NAME = 'cancels';
const CANCELS = 1_000;
/** At each point of a case's life at least. */
const AT_EACH_POINT = 3;
const SCORECARDS_AT_ONCE = 4;
const SINGLES_AT_ONCE = 30;
const CASES = 25;
const POOL = { id: 'wide', maxConcurrent: 8 };
const QUOTA = 3;
const LOOK_EVERY_MS = 50;
/** Cancels of runs at each look. */
const AT_ONCE = 6;

const random = randomFor(NAME);

let site: SharedSite;
beforeAll(async () => {
  site = await SharedSite.start([POOL], ['quota']);
  await site.platform.ok('PATCH', '/workspaces/quota', { maxRunning: QUOTA });
}, 2 * MINUTE);
afterAll(() => site.stop(), MINUTE);

const demand = (): JobDemand => ({ seconds: random(0, 12) / 10, exit: random(0, 5) === 0 ? 3 : 0 });
const anyWorkspace = (): string => (random(0, 2) === 0 ? 'quota' : 'default');

/** Keeps so many scorecards and single runs going. */
async function refill(seen: readonly Seen[]): Promise<void> {
  const scorecards = new Set(seen.flatMap(({ scorecard }) => scorecard ?? []));
  const singles = seen.filter(({ scorecard }) => scorecard === null).length;
  const demands = Array.from({ length: CASES }, demand);
  if (scorecards.size < SCORECARDS_AT_ONCE) await site.submit(anyWorkspace(), POOL.id, demands);
  const missing = Math.max(0, SINGLES_AT_ONCE - singles);
  await Promise.all(Array.from({ length: Math.min(10, missing) }, () => site.run(anyWorkspace(), POOL.id, demand())));
}

/** Cancels runs, taking each point of a case's life as often as another, and now and then a whole scorecard. */
class Canceller {
  readonly hits = new Map<Point, number>();
  readonly kinds = { 'single runs': 0, 'runs of scorecards': 0, scorecards: 0 };
  private readonly asked = new Set<string>();

  get count(): number {
    return this.asked.size;
  }

  async strike(seen: readonly Seen[]): Promise<void> {
    const open = seen.filter(({ id }) => !this.asked.has(id));
    const chosen = Array.from({ length: AT_ONCE }, () => this.choose(open));
    const runs = [...new Set(chosen.flatMap((run) => run ?? []))];
    await Promise.all(runs.map((run) => this.cancelRun(run)));
    const scorecard = random(0, 4) === 0 ? open.find((run) => run.scorecard !== null) : undefined;
    if (scorecard) await this.cancelScorecard(scorecard);
  }

  private choose(open: readonly Seen[]): Seen | undefined {
    const points = POINTS.filter((point) => open.some((run) => run.point === point));
    const point = points[random(0, points.length - 1)];
    const there = open.filter((run) => run.point === point);
    return there[random(0, there.length - 1)];
  }

  private async cancelRun({ id, scorecard, workspace, point }: Seen): Promise<void> {
    this.asked.add(id);
    this.hits.set(point, (this.hits.get(point) ?? 0) + 1);
    this.kinds[scorecard === null ? 'single runs' : 'runs of scorecards'] += 1;
    await site.platform.ok('POST', `/runs/${id}/cancel`, undefined, inWorkspace(workspace));
  }

  private async cancelScorecard({ scorecard, workspace }: Seen): Promise<void> {
    if (scorecard === null || this.asked.has(scorecard)) return;
    this.asked.add(scorecard);
    this.kinds.scorecards += 1;
    await site.platform.ok('POST', `/scorecards/${scorecard}/cancel`, undefined, inWorkspace(workspace));
  }
}

/** Now and then a job is lost, so that there are cases that back off. */
function loseSome(seen: readonly Seen[]): void {
  const running = seen.filter(({ point, allocation }) => point === 'running' && allocation !== null);
  const { allocation } = random(0, 1) === 0 ? (running[random(0, running.length - 1)] ?? {}) : {};
  if (allocation) loseJob(site.platform, allocation);
}

test(
  `${CANCELS} cancels at every point of a case's life leave no slot held, no attempt and no process`,
  async () => {
    process.stderr.write(`${NAME}: EVERDICT_TEST_SEED=${SEED}\n`);
    const { platform, ledger } = site;
    const limits = new LimitsLog(platform, [POOL]);
    const begun = performance.now();
    const canceller = new Canceller();
    await site.run('default', POOL.id, demand());
    await eventually('there is a ledger', async () => ledger.length > 0);
    while (canceller.count < CANCELS) {
      const seen = await unsettled(platform, `admission:_shared:${POOL.id}`);
      loseSome(seen);
      await Promise.all([canceller.strike(seen), refill(seen)]);
      await sleep(LOOK_EVERY_MS);
    }
    const struck = performance.now();
    const faults = await leftAtRest(platform);
    faults.push(...ledgerFaults({ ...(await limits.ruled({ quota: QUOTA })), notes: ledger.notes }));
    faults.push(...ledgerFaults({ ...(await limits.ruled({})), notes: await attemptNotes(platform) }));
    const [outcomes] = await platform.sql<{ shown: string }>(
      `SELECT json_object_agg(outcome, count)::text AS shown
       FROM (SELECT outcome, count(*) FROM runs GROUP BY outcome) outcomes`,
    );
    const seconds = (from: number, to: number): string => ((to - from) / 1_000).toFixed(1);
    process.stderr.write(
      `${NAME}: ${canceller.count} in ${seconds(begun, struck)} s, at rest after ${seconds(struck, performance.now())} s, ` +
        `${JSON.stringify({ ...canceller.kinds, ...Object.fromEntries(canceller.hits) })}, outcomes ${outcomes?.shown}\n`,
    );
    expect(faults).toEqual([]);
    const tooFew = POINTS.filter((point) => (canceller.hits.get(point) ?? 0) < AT_EACH_POINT);
    expect(tooFew).toEqual([]);
  },
  12 * MINUTE,
);
