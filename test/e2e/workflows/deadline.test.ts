import { casesEnded, caseWorkflowId, runsSettled, windowWorkflowId } from '../../../workflows/messages.js';
import { anEarlyStop } from '../../builders.js';
import { POOL } from '../../integration/store/world.js';
import { eventually, type TestWorker } from '../../temporal.js';
import { Lab, MINUTE } from './lab.js';

let lab: Lab;
let worker: TestWorker;

beforeAll(async () => {
  lab = await Lab.open();
  worker = await lab.platform.startWorker();
}, 2 * MINUTE);
afterAll(() => lab.close(), MINUTE);

const counts = (id: string) => lab.world.scorecards.counts(id);
const codes = async (id: string) =>
  (await lab.world.runs.pageByScorecard(id, { limit: 50 })).map(({ run }) => run.errorCode ?? run.outcome);

async function expectNothingLeft(): Promise<void> {
  await eventually('every slot is free', () => lab.isLedgerEmpty());
  expect(await lab.liveAttempts()).toEqual([]);
}

test(
  'at its deadline a scorecard ends, with results kept, running jobs stopped and nothing left',
  async () => {
    const tasks = ['echo quick', ...Array.from({ length: 25 }, () => lab.task('late', 60))];
    const id = await lab.submit(tasks, { deadlineSec: 10 });
    await (await lab.start(id)).result();

    const view = await lab.world.scorecards.find('default', id);
    expect(view).toMatchObject({
      status: 'completed',
      counts: { settled: 26, passed: 1, errored: 25, infraErrors: 25 },
    });
    const tookMs = Date.parse(view?.finishedAt ?? '') - Date.parse(view?.createdAt ?? '');
    expect(tookMs).toBeGreaterThanOrEqual(10_000);
    expect(new Set(await codes(id))).toEqual(new Set(['passed', 'DEADLINE_EXCEEDED']));
    expect(lab.noted('late').most).toBeLessThanOrEqual(4);
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'a deadline that passes while every worker is away holds once one is back',
  async () => {
    const id = await lab.submit([lab.task('away', 60), 'echo quick'], { deadlineSec: 10 });
    const root = await lab.start(id);
    await eventually('it runs', async () => lab.noted('away').starts === 1 && (await counts(id))?.passed === 1);
    await worker.stop();
    const { deadlineAt } = (await lab.world.scorecards.find('default', id)) ?? {};
    await lab.pause(Math.max(0, Date.parse(deadlineAt ?? '') - Date.now()) + 500);
    worker = await lab.platform.startWorker();
    await root.result();
    expect(await codes(id)).toEqual(['DEADLINE_EXCEEDED', 'passed']);
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'a scorecard that is done before its deadline ends at once',
  async () => {
    const id = await lab.submit(['echo quick'], { deadlineSec: 3_600 });
    await (await lab.start(id)).result();
    expect(await counts(id)).toMatchObject({ passed: 1 });
  },
  MINUTE,
);

test(
  'a scorecard whose verdict is certain ends with what it has, its running jobs stopped and nothing left',
  async () => {
    // Whichever is first fails.
    const task = `mkdir ${lab.file('early')}.first 2>/dev/null && exit 1; ${lab.task('early', 60)}`;
    const id = await lab.submit(
      Array.from({ length: 30 }, () => task),
      { earlyStop: anEarlyStop() },
    );
    await (await lab.start(id)).result();

    const view = await lab.world.scorecards.find('default', id);
    expect(view).toMatchObject({
      status: 'completed',
      counts: { settled: 30, failed: 1, cancelled: 29 },
      stoppedEarly: { verdict: 'block', seen: 1, total: 30 },
    });
    expect(lab.noted('early').starts).toBeLessThanOrEqual(5);
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'an early end that a worker began and did not live to finish is finished by the next',
  async () => {
    const id = await lab.submit(
      Array.from({ length: 8 }, () => lab.task('half', 60)),
      { earlyStop: anEarlyStop() },
    );
    const root = await lab.start(id);
    await eventually('four run', async () => lab.noted('half').starts === 4);
    await worker.stop();
    const verdict = { verdict: 'block', seen: 1, total: 8, errorRate: 0, reason: 'it is certain' };
    await lab.world.dataSource.query('UPDATE scorecards SET stopped_early = $2 WHERE id = $1', [id, verdict]);
    await lab.world.dataSource.query(
      `UPDATE runs SET outcome = 'cancelled', settled_at = now(), settled_attempt = open_attempt, open_attempt = NULL
       WHERE id = $1`,
      [`${id}.0`],
    );
    await root.signal(casesEnded);
    worker = await lab.platform.startWorker();
    await root.result();

    expect(await lab.world.scorecards.find('default', id)).toMatchObject({
      status: 'completed',
      counts: { settled: 8, cancelled: 8 },
      stoppedEarly: { verdict: 'block' },
    });
    await expectNothingLeft();
  },
  MINUTE,
);

test(
  'runs that an operator decides while they run and while they wait are stopped and dropped, and the scorecard ends',
  async () => {
    const id = await lab.submit([...Array.from({ length: 5 }, () => lab.task('decided', 60))]);
    const root = await lab.start(id);
    await eventually('four run and one waits', async () => {
      const found = await counts(id);
      return lab.noted('decided').starts === 4 && found?.waiting === 1;
    });
    const runIds = [0, 1, 2, 3, 4].map((ordinal) => `${id}.${ordinal}`);
    // The one that waits first, or a freed slot would start it.
    for (const runId of runIds.toReversed()) {
      await lab.world.runs.decide(runId, { outcome: 'failed', reason: 'it hangs' }, 'ann');
    }
    await lab.platform.client.workflow
      .getHandle(windowWorkflowId(id, 0))
      .signal(runsSettled, runIds.map(caseWorkflowId));
    // Temporal heard of no cancel: the outbox makes up for it.
    await worker.outbox.cancelAll();
    await root.result();

    expect(await counts(id)).toMatchObject({ settled: 5, failed: 5, decided: 5 });
    expect(await lab.world.scorecards.find('default', id)).toMatchObject({ rates: { final: { n: 0 } } });
    expect(lab.noted('decided')).toEqual({ starts: 4, most: 4 });
    expect(await lab.world.pools.active()).not.toContain(POOL);
    await expectNothingLeft();
  },
  MINUTE,
);

test('no workflow task failed in all of this', async () => {
  expect(await lab.platform.failedWorkflowTasks()).toEqual([]);
});
