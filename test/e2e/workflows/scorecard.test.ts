import { Grader } from '../../../contracts/grader.js';
import { newId } from '../../../store/ids.js';
import { encodeRecord } from '../../../store/record-json.js';
import { RegradeStore } from '../../../store/regrade.store.js';
import { RetryStore } from '../../../store/retry.store.js';
import { caseWorkflowId, windowWorkflowId } from '../../../workflows/messages.js';
import { aRecord } from '../../builders.js';
import { eventually, type TestWorker } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

let lab: Lab;
let worker: TestWorker;

beforeAll(async () => {
  lab = await Lab.open();
  worker = await lab.platform.startWorker();
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

const eventsOf = (runId: string) => lab.platform.eventsOf(caseWorkflowId(runId));

test(
  'a scorecard of short local cases runs to its end at 7 events a case',
  async () => {
    const id = await lab.submit(Array.from({ length: 12 }, () => 'echo hello'));
    await (await lab.start(id)).result();

    expect(await lab.world.scorecards.counts(id)).toMatchObject({ submitted: 12, settled: 12, passed: 12 });
    expect(await lab.world.scorecards.find('default', id)).toMatchObject({ status: 'completed' });
    for (const ordinal of [0, 5, 11]) expect(await eventsOf(`${id}.${ordinal}`)).toBeLessThanOrEqual(7);
    expect(await lab.world.pools.active()).toEqual([]);
  },
  MINUTE,
);

test(
  'a long local case takes at most 15 events',
  async () => {
    const id = await lab.submit(['sleep 4']);
    await (await lab.start(id)).result();
    expect(await lab.world.scorecards.counts(id)).toMatchObject({ passed: 1 });
    expect(await eventsOf(`${id}.0`)).toBeLessThanOrEqual(15);
  },
  MINUTE,
);

test(
  'never more jobs than slots run at once, counted by the jobs themselves',
  async () => {
    const id = await lab.submit(Array.from({ length: 24 }, () => lab.task('slots', 0.3)));
    await (await lab.start(id)).result();
    expect(lab.noted('slots')).toEqual({ starts: 24, most: 4 });
  },
  MINUTE,
);

test(
  'a scorecard keeps to its own concurrency',
  async () => {
    const id = await lab.submit(
      Array.from({ length: 8 }, () => lab.task('concurrency', 0.3)),
      { concurrency: 2 },
    );
    await (await lab.start(id)).result();
    expect(lab.noted('concurrency')).toEqual({ starts: 8, most: 2 });
  },
  MINUTE,
);

test(
  'states add up to what was submitted at every sample',
  async () => {
    const id = await lab.submit(Array.from({ length: 20 }, () => 'sleep 0.2'));
    const root = await lab.start(id);
    const isOver = root.result().then(() => true);
    for (let over = false; !over; over = await Promise.race([isOver, lab.pause(20)])) {
      const counts = await lab.world.scorecards.counts(id);
      const { queued = 0, waiting = 0, running = 0, settled = 0 } = counts ?? {};
      expect(queued + waiting + running + settled).toBe(20);
    }
    expect(await lab.world.scorecards.counts(id)).toMatchObject({ passed: 20 });
  },
  MINUTE,
);

test(
  'a terminated case is settled as PLATFORM_TERMINATED at once and its job is gone',
  async () => {
    const id = await lab.submit(['sleep 60', 'echo quick']);
    const root = await lab.start(id);
    await eventually('the case runs', async () => (await lab.world.attempts.read(`${id}.0`, 1))?.submittedAt);
    await lab.platform.client.workflow.getHandle(caseWorkflowId(`${id}.0`)).terminate('by a test');
    const begun = performance.now();
    await eventually('it is settled', async () => (await lab.world.runs.guards(`${id}.0`))?.outcome, 5_000);
    expect(performance.now() - begun).toBeLessThan(1_000);
    await root.result();

    const run = await lab.world.runs.find('default', `${id}.0`);
    expect(run).toMatchObject({ outcome: 'errored', errorClass: 'infra', errorCode: 'PLATFORM_TERMINATED' });
    expect(await lab.world.scorecards.counts(id)).toMatchObject({ passed: 1, errored: 1 });
    expect(await lab.liveAttempts()).toEqual([]);
  },
  MINUTE,
);

test(
  'a terminated window is started again for the runs without outcome and adopts their jobs',
  async () => {
    const id = await lab.submit(Array.from({ length: 6 }, () => lab.task('window', 3)));
    const root = await lab.start(id);
    await eventually('jobs run', async () => lab.noted('window').starts >= 4);
    await lab.platform.client.workflow.getHandle(windowWorkflowId(id, 0)).terminate('by a test');
    await root.result();

    expect(await lab.world.scorecards.counts(id)).toMatchObject({ settled: 6, passed: 6 });
    expect(lab.noted('window')).toEqual({ starts: 6, most: 4 });
  },
  2 * MINUTE,
);

test(
  'cancel stops what runs, keeps what is finished, and ends with nothing left',
  async () => {
    const id = await lab.submit(['echo done', ...Array.from({ length: 9 }, () => lab.task('cancel', 60))]);
    const root = await lab.start(id);
    await eventually('one is finished and others run', async () => {
      const counts = await lab.world.scorecards.counts(id);
      return counts?.passed === 1 && lab.noted('cancel').starts >= 4;
    });
    await lab.world.scorecards.requestCancel(id);
    await root.cancel();
    await root.cancel();
    await expect(root.result()).rejects.toThrow();

    expect(await lab.world.scorecards.counts(id)).toMatchObject({ settled: 10, passed: 1, cancelled: 9 });
    expect(await lab.world.scorecards.find('default', id)).toMatchObject({ status: 'cancelled' });
    expect(await lab.liveAttempts()).toEqual([]);
  },
  MINUTE,
);

test(
  'a root cancelled from the Temporal UI cancels its scorecard',
  async () => {
    const id = await lab.submit(Array.from({ length: 6 }, () => 'sleep 60'));
    const root = await lab.start(id);
    await eventually('cases run', async () => ((await lab.world.scorecards.counts(id))?.running ?? 0) >= 2);
    await root.cancel();
    await expect(root.result()).rejects.toThrow();
    expect(await lab.world.scorecards.find('default', id)).toMatchObject({ status: 'cancelled' });
    expect(await lab.world.scorecards.counts(id)).toMatchObject({ cancelled: 6 });
  },
  MINUTE,
);

test(
  'a scorecard that Temporal never heard of is started from the database, once',
  async () => {
    const id = await lab.submit(['echo hello']);
    await worker.outbox.startScorecards();
    await worker.outbox.startScorecards();
    await eventually(
      'it is done',
      async () => (await lab.world.scorecards.find('default', id))?.status === 'completed',
    );
    expect(await lab.world.scorecards.unstarted(10)).toEqual([]);
  },
  MINUTE,
);

test(
  'a cancel that Temporal did not hear of is made up for',
  async () => {
    const id = await lab.submit(['sleep 60']);
    const root = await lab.start(id);
    await eventually('it runs', async () => (await lab.world.attempts.read(`${id}.0`, 1))?.submittedAt);
    await lab.world.scorecards.requestCancel(id);
    await worker.outbox.cancelAll();
    await root.result().catch(() => undefined);
    expect(await lab.world.scorecards.find('default', id)).toMatchObject({ status: 'cancelled' });
  },
  MINUTE,
);

/** Ends the runs of a scorecard that nothing was started of: the last as an infrastructure error, the others passed. */
async function ended(id: string): Promise<void> {
  const { json, answer } = encodeRecord(aRecord());
  const last = '(SELECT max(ordinal) FROM runs WHERE scorecard_id = $1)';
  await lab.world.dataSource.query(
    `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, closed_at, end_kind, record, answer)
     SELECT id, 1, pool_id, id, 1000000 + (SELECT count(*) FROM attempts) + ordinal, id, 'cafe', now(), 'record', $2, $3
     FROM runs WHERE scorecard_id = $1`,
    [id, json, answer],
  );
  await lab.world.dataSource.query(
    `UPDATE runs SET settled_attempt = 1, settled_at = now(),
       outcome = CASE WHEN ordinal = ${last} THEN 'errored' ELSE 'passed' END,
       error_class = CASE WHEN ordinal = ${last} THEN 'infra' END,
       error_code = CASE WHEN ordinal = ${last} THEN 'NODE_LOST' END
     WHERE scorecard_id = $1`,
    [id],
  );
  await lab.world.scorecards.markStarted(id);
  await lab.world.scorecards.complete(id);
}

/** While it is there, each statement that writes to runs takes a moment, as it does where answers are long. */
const slowWrites = {
  begin: () =>
    lab.world.dataSource.query(`
      CREATE FUNCTION take_a_moment() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(0.4); RETURN NULL; END $$;
      CREATE TRIGGER slow BEFORE UPDATE OF scores ON runs FOR EACH STATEMENT EXECUTE FUNCTION take_a_moment();`),
  end: () => lab.world.dataSource.query('DROP TRIGGER slow ON runs; DROP FUNCTION take_a_moment'),
};

test(
  'a retry runs again what it left behind, also where it carries whole partitions, and is started from the database',
  async () => {
    const first = await lab.submit(Array.from({ length: 501 }, () => 'echo hello'));
    await ended(first);
    const of = await lab.world.scorecards.find('default', first);
    if (!of) throw new Error('the scorecard is gone');
    const id = newId('sc');
    const reroll = { scorecard: first, classes: ['infra' as const], retried: 1, decidedAgain: 0, by: 'mel', at: '' };
    const { counts, rates } = of;
    const retries = new RetryStore(lab.world.dataSource);
    await retries.create({ id, workspaceId: 'default', createdBy: 'mel', reroll: { ...reroll, counts, rates } });
    await worker.outbox.startScorecards();
    await eventually(
      'it is done',
      async () => (await lab.world.scorecards.find('default', id))?.status === 'completed',
    );
    const done = await lab.world.scorecards.find('default', id);
    expect(done).toMatchObject({ status: 'completed', retryOf: first, counts: { submitted: 501, passed: 501 } });
    expect(done?.rates.firstAttempt).toMatchObject({ n: 501, passed: 500 });
    const attempts = `SELECT run_id FROM attempts WHERE run_id LIKE '${id}.%'`;
    expect(await lab.world.dataSource.query(attempts)).toEqual([{ run_id: `${id}.500` }]);
  },
  MINUTE,
);

test(
  'answers are graded anew from where a try broke off, each once',
  async () => {
    const first = await lab.submit(Array.from({ length: 1_000 }, () => 'echo hello'));
    await ended(first);
    await lab.countRepeatedSettles();
    const id = newId('sc');
    const by = { graders: [Grader.parse({ kind: 'numeric', value: 42 })] };
    await new RegradeStore(lab.world.dataSource).create({
      ...{ id, workspaceId: 'default', createdBy: 'mel', of: first, by },
    });
    await slowWrites.begin();
    const root = await lab.start(id);
    const settled = async (): Promise<number> => (await lab.world.scorecards.counts(id))?.settled ?? 0;
    await eventually('some are graded', async () => (await settled()) > 1);
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%UPDATE runs r SET outcome = g.outcome%' AND state = 'active'
        AND pid <> pg_backend_pid()`;
    await eventually('a write is under way', async () => (await lab.world.dataSource.query(cut)).length > 0);
    await root.result();
    await slowWrites.end();

    const done = await lab.world.scorecards.find('default', id);
    expect(done).toMatchObject({ status: 'completed', counts: { passed: 999, errored: 1, waiting: 0, running: 0 } });
    expect(await lab.repeatedSettles()).toBe(0);
  },
  MINUTE,
);

test(
  'a cancel leaves what is not graded yet without a verdict',
  async () => {
    const first = await lab.submit(Array.from({ length: 1_000 }, () => 'echo hello'));
    await ended(first);
    const id = newId('sc');
    const by = { graders: [Grader.parse({ kind: 'contains', value: '4' })] };
    await new RegradeStore(lab.world.dataSource).create({
      ...{ id, workspaceId: 'default', createdBy: 'mel', of: first, by },
    });
    await slowWrites.begin();
    const root = await lab.start(id);
    await eventually('some are graded', async () => ((await lab.world.scorecards.counts(id))?.settled ?? 0) > 1);
    await root.cancel();
    await expect(root.result()).rejects.toThrow();
    await slowWrites.end();
    const done = await lab.world.scorecards.find('default', id);
    expect(done).toMatchObject({ status: 'cancelled', counts: { submitted: 1_000, settled: 1_000, errored: 1 } });
    expect(done?.counts.cancelled).toBeGreaterThan(0);
  },
  MINUTE,
);

test('no workflow task failed in all of this', async () => {
  expect(await lab.platform.failedWorkflowTasks()).toEqual([]);
});
