import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { randomFor, SEED } from '../seeded.js';
import { unreliably } from '../signal-proxy.js';
import { leftAtRest } from './at-rest.js';
import { attemptNotes } from './attempt-notes.js';
import { signalAll } from './dev-site.js';
import type { JobDemand } from './job-ledger.js';
import { ledgerFaults } from './ledger-checker.js';
import { LimitsLog } from './limits-log.js';
import { Observer } from './observer.js';
import { inWorkspace, SharedSite } from './shared-site.js';

const NAME = 'admission protocol';
const WIDE = { id: 'wide', maxConcurrent: 6 };
const LEAN = { id: 'lean', maxConcurrent: 5, memoryBudgetMb: 1_000 };
/** Of the workspace `quota`, over both runtimes. */
const QUOTA = 3;
/** Of 100 signals each. */
const UNRELIABLE = { lost: 4, twice: 10, late: 20 };
/** Between two strikes. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 3_500];
/** Who lost a message asks again after a minute, and after two. */
const SETTLED_WITHIN_MS = 6 * MINUTE;

const random = randomFor(NAME);

let site: SharedSite;
let limits: LimitsLog;
beforeAll(async () => {
  site = await SharedSite.start([WIDE, LEAN], ['quota', 'weighty']);
  limits = new LimitsLog(site.platform, [WIDE, LEAN]);
  await Observer.prepare(site.platform);
  await site.platform.ok('PATCH', '/workspaces/quota', { maxRunning: QUOTA });
  await site.platform.ok('PATCH', '/workspaces/weighty', { weight: 3 });
}, 2 * MINUTE);
afterAll(() => site.stop(), MINUTE);

/** Most are small; where memory is counted, some declare none, and some most of what there is. */
function demands(count: number, runtime: string): JobDemand[] {
  return Array.from({ length: count }, () => {
    const job = { seconds: random(5, 55) / 10, exit: random(0, 5) === 0 ? 3 : 0 };
    const draw = random(0, 9);
    if (runtime === 'wide' || draw > 7) return job;
    return { ...job, memoryMb: draw < 2 ? random(600, 1_000) : random(50, 250) };
  });
}

const SCORECARDS: [workspace: string, runtime: string, cases: number][] = [
  ['default', 'wide', 35],
  ['default', 'wide', 20],
  ['default', 'lean', 40],
  ['quota', 'wide', 18],
  ['quota', 'lean', 14],
  ['weighty', 'wide', 35],
  ['weighty', 'lean', 24],
];
const RUNS: [workspace: string, runtime: string, count: number][] = [
  ['default', 'lean', 6],
  ['quota', 'wide', 4],
  ['weighty', 'wide', 6],
];

async function submitAll(): Promise<number> {
  for (const [workspace, runtime, cases] of SCORECARDS) await site.submit(workspace, runtime, demands(cases, runtime));
  for (const [workspace, runtime, count] of RUNS) {
    for (const demand of demands(count, runtime)) await site.run(workspace, runtime, demand);
  }
  return [...SCORECARDS, ...RUNS].reduce((sum, [, , count]) => sum + count, 0);
}

/** So many of these that run, taken at random. Returns how many there were. */
async function terminate(type: string, most: number): Promise<number> {
  const { workflow } = await site.platform.temporal();
  const ids: string[] = [];
  for await (const { workflowId } of workflow.list({
    query: `WorkflowType = "${type}" AND ExecutionStatus = "Running"`,
  })) {
    ids.push(workflowId);
  }
  const chosen = Array.from({ length: Math.min(most, ids.length) }, () => ids.splice(random(0, ids.length - 1), 1));
  for (const id of chosen.flat()) await workflow.getHandle(id).terminate('by a test').catch(ignoreEnded);
  return chosen.length;
}

/** As their owners, to so many runs without outcome. */
async function ask(routeOf: (run: string) => string, most: number): Promise<number> {
  const runs = await site.platform.sql<{ id: string; workspace: string }>(
    'SELECT id, workspace_id AS workspace FROM runs WHERE outcome IS NULL ORDER BY id',
  );
  const chosen = Array.from({ length: most }, () => runs.splice(random(0, runs.length - 1), 1)).flat();
  for (const { id, workspace } of chosen) {
    // What has just ended is neither promoted nor cancelled.
    const { status } = await site.platform.call('POST', routeOf(id), undefined, inWorkspace(workspace));
    if (status !== 200 && status !== 409) throw new Error(`POST ${routeOf(id)}: ${status}`);
  }
  return chosen.length;
}

function ignoreEnded(error: unknown): void {
  if (!/not found|completed/i.test(String(error))) throw error;
}

const killWorker = async (): Promise<number> => {
  const { workers } = site;
  return signalAll(workers.slice(random(0, workers.length - 1)).slice(0, 1), 'SIGKILL');
};
const killServer = async (): Promise<number> => {
  await site.platform.kill('temporal');
  return 1;
};
const turn = (dial: (dials: LimitsLog) => Promise<void>) => async (): Promise<number> => {
  await dial(limits);
  return 1;
};

const STRIKES: [what: string, strike: () => Promise<number>][] = [
  ['a worker is killed', killWorker],
  ['cases are terminated', () => terminate('caseWorkflow', 4)],
  ['slots are lowered', turn((dials) => dials.set('wide', { slots: 2 }))],
  ['a ledger is terminated', () => terminate('admissionWorkflow', 1)],
  ['a window is terminated', () => terminate('windowWorkflow', 1)],
  ['memory is lowered', turn((dials) => dials.set('lean', { memoryMb: 300 }))],
  ['the server is killed', killServer],
  ['runs are promoted', () => ask((run) => `/queue/${run}/promote`, 5)],
  ['slots are raised', turn((dials) => dials.set('wide', { slots: 5 }))],
  ['all ledgers are terminated', () => terminate('admissionWorkflow', 2)],
  ['a worker is killed', killWorker],
  ['a runtime is paused', turn((dials) => dials.pause('lean'))],
  ['memory is raised', turn((dials) => dials.open('lean'))],
  ['runs are cancelled', () => ask((run) => `/runs/${run}/cancel`, 5)],
  ['cases are terminated', () => terminate('caseWorkflow', 4)],
  ['slots are back', turn((dials) => dials.open('wide'))],
  ['a worker is killed', killWorker],
  ['a window is terminated', () => terminate('windowWorkflow', 1)],
];

async function strikeAll(total: number): Promise<string[]> {
  const faults: string[] = [];
  let inTime = 0;
  for (const [what, strike] of STRIKES) {
    await sleep(random(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
    const left = await unsettled();
    if (left > 0) inTime += 1;
    process.stderr.write(`${NAME}: ${what}, ${left} of ${total} are left\n`);
    if ((await strike()) === 0) faults.push(`${what}: nothing was hit`);
  }
  if (inTime * 4 < STRIKES.length * 3)
    faults.push(`only ${inTime} of ${STRIKES.length} strikes came while there was work`);
  return faults;
}

test(
  'limits and quotas hold by the notes of the jobs, every case settles and no slot is left, whatever happens to signals, processes and workflows',
  async () => {
    process.stderr.write(`${NAME}: EVERDICT_TEST_SEED=${SEED}\n`);
    site.proxy.set(unreliably(random, UNRELIABLE));
    const begun = performance.now();
    const total = await submitAll();
    await eventually('jobs run', async () => site.ledger.length > 10, MINUTE);
    const faults = await strikeAll(total);
    site.proxy.set(() => 'passed');
    await eventually('all are settled', async () => (await unsettled()) === 0, SETTLED_WITHIN_MS);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    process.stderr.write(`${NAME}: ${seconds} s, signals ${JSON.stringify(Object.fromEntries(site.proxy.seen))}\n`);

    faults.push(...(await leftAtRest(site.platform)), ...(await settledTwice()));
    faults.push(...ledgerFaults({ ...(await limits.ruled({ quota: QUOTA })), notes: site.ledger.notes }));
    // A run that is settled counts for no quota, and its attempt is closed a little later.
    faults.push(...ledgerFaults({ ...(await limits.ruled({})), notes: await attemptNotes(site.platform) }));
    expect(faults).toEqual([]);
    for (const fate of ['lost', 'twice', 'late']) expect([fate, site.proxy.count(fate)]).not.toEqual([fate, 0]);
  },
  12 * MINUTE,
);

async function unsettled(): Promise<number> {
  const [left] = await site.platform.sql<{ count: number }>('SELECT count(*)::int FROM runs WHERE outcome IS NULL');
  return left?.count ?? 0;
}

/** By the database's own notes. */
async function settledTwice(): Promise<string[]> {
  const odd = await site.platform.sql<{ run_id: string; count: number }>(
    'SELECT run_id, count(*)::int FROM observed.outcomes GROUP BY run_id HAVING count(*) > 1',
  );
  return odd.map(({ run_id, count }) => `${run_id} got an outcome ${count} times`);
}
