import { MAX_PASSES } from '../../policy/admission/reservation.js';
import { MINUTE } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { type JobDemand, type JobNote, uptime } from './job-ledger.js';
import { inWorkspace, SharedSite } from './shared-site.js';

const SLOTS = 4;
const NARROW = { id: 'narrow', maxConcurrent: SLOTS };
const LEAN = { id: 'lean', maxConcurrent: SLOTS, memoryBudgetMb: 1_000 };

let site: SharedSite;
beforeAll(async () => {
  site = await SharedSite.start([NARROW, LEAN], ['small']);
}, 2 * MINUTE);
afterAll(() => site.stop(), MINUTE);

const jobs = (count: number, demand: JobDemand): JobDemand[] => Array<JobDemand>(count).fill(demand);

/** The scorecard or single run that a job is of. */
const ownerOf = ({ runId }: JobNote): string => runId.split('.')[0] ?? '';

const startsOf = (pool: string): JobNote[] =>
  site.ledger.notes.filter((note) => note.what === 'start' && note.pool === pool);

async function cancel(scorecard: string): Promise<void> {
  await site.platform.ok('POST', `/scorecards/${scorecard}/cancel`);
}

/** When the first run of a scorecard asked for a slot, seconds since boot. */
async function askedAt(scorecard: string): Promise<number> {
  const agoSec = await eventually('it asks', async () => {
    const [row] = await site.platform.sql<{ ago: number | null }>(
      'SELECT extract(epoch FROM now() - min(asked_at))::float8 AS ago FROM runs WHERE scorecard_id = $1',
      [scorecard],
    );
    return row?.ago ?? undefined;
  });
  return uptime() - agoSec;
}

test(
  'a workspace with ten cases is through long before one with two hundred that came first',
  async () => {
    const big = await site.submit('default', NARROW.id, jobs(200, { seconds: 0.2 }));
    await eventually('the big one has every slot', async () => startsOf(NARROW.id).length > 2 * SLOTS);
    const small = await site.submit('small', NARROW.id, jobs(10, { seconds: 0.2 }));
    const asked = await askedAt(small);
    const headers = inWorkspace('small');
    await eventually('the small one completes', async () => {
      const { status } = await site.platform.ok<{ status: string }>('GET', `/scorecards/${small}`, undefined, headers);
      return status === 'completed';
    });
    await cancel(big);
    const after = startsOf(NARROW.id).filter(({ at }) => at > asked);
    const last = after.findLastIndex((note) => ownerOf(note) === small);
    const others = after.slice(0, last).filter((note) => ownerOf(note) === big).length;
    // As many as its own ten, and those that had their grants before.
    expect(others).toBeLessThanOrEqual(10 + 3 * SLOTS);
  },
  2 * MINUTE,
);

test(
  'a case that takes most of the memory starts within the bound, however many small ones keep coming',
  async () => {
    const light = await site.submit('default', LEAN.id, jobs(120, { seconds: 0.3, memoryMb: 240 }));
    await eventually('small ones run', async () => startsOf(LEAN.id).length > 2 * SLOTS);
    const heavy = await site.submit('default', LEAN.id, jobs(1, { seconds: 0.3, memoryMb: 900 }));
    const asked = await askedAt(heavy);
    await eventually('it starts', async () => startsOf(LEAN.id).some((note) => ownerOf(note) === heavy), MINUTE);
    await cancel(light);
    const after = startsOf(LEAN.id).filter(({ at }) => at > asked);
    const passed = after.findIndex((note) => ownerOf(note) === heavy);
    // And those that had their grants before it was known, in two rounds.
    expect(passed).toBeLessThanOrEqual(MAX_PASSES + 2 * SLOTS);
    expect(after.length).toBeGreaterThan(0);
  },
  2 * MINUTE,
);
