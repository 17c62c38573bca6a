import { PredictionsService } from '../../../api/simulation/predictions.service.js';
import { PredictionStore } from '../../../store/prediction.store.js';
import { parseScrape, sample } from '../../prometheus.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
beforeEach(async () => {
  api = await startApi();
  await registerWorld(api, { size: 40 });
}, 60_000);
afterEach(() => api.close());

const sql = (text: string, params: unknown[] = []) => api.database.dataSource.query(text, params);
const PLAN = { dataset: 'tasks', harness: 'echo', runtime: 'here' };
const simulate = async (body: unknown) => (await api.send('POST', '/simulate', body)).body;

async function submit(parts = {}): Promise<string> {
  const { body } = await api.send('POST', '/scorecards', { ...PLAN, ...parts });
  return body.id;
}

let lastSeq = 0;
/** Ten runs of a scorecard that held their slot for ten seconds each, and ended; the rest is cancelled. */
async function history(seconds = 10): Promise<void> {
  const id = await submit();
  lastSeq += 100;
  await sql(
    `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, opened_at, closed_at, end_kind)
     SELECT id, 1, pool_id, 'case:' || id, $2 + ordinal, id, 'cafe', now() - interval '1 hour',
       now() - interval '1 hour' + make_interval(secs => $3), 'silent'
     FROM runs WHERE scorecard_id = $1 AND ordinal < 10`,
    [id, lastSeq, seconds],
  );
  await sql(`UPDATE runs SET outcome = 'cancelled', settled_at = now() WHERE scorecard_id = $1`, [id]);
  await sql('UPDATE scorecards SET finished_at = now() WHERE id = $1', [id]);
}

describe('POST /simulate', () => {
  test('a scorecard on an idle runtime of four slots takes a tenth of its cases in rounds', async () => {
    await history();
    const answer = await simulate({ scorecard: PLAN });
    expect(answer).toMatchObject({
      ...{ runtime: 'here@1.0.0', seed: 1, limits: { slots: 4, memoryMb: 1_000, cpuMillicores: null } },
      before: { cases: 0, wallSec: { p50: 0, p90: 0 }, waits: [] },
      after: {
        cases: 40,
        wallSec: { p50: 100, p90: 100 },
        waits: [{ workspace: 'default', cases: 40, wait: { p50: 45, p90: 89 } }],
        ...{ peak: { slots: 4, memoryMb: 0, cpuMillicores: 0 }, refused: 0 },
      },
      scorecard: { cases: 40, firstStartSec: { p50: 0, p90: 0 }, doneSec: { p50: 100, p90: 100 } },
    });
    expect(answer.assumptions.durations).toEqual([
      {
        ...{ harness: 'echo@1.0.0', dataset: 'tasks@1.0.0', cases: 40, attempts: 10 },
        ...{ basis: 'harness and dataset', held: { p50: 10, p90: 10 } },
      },
    ]);
    expect(await simulate({ scorecard: PLAN })).toEqual(answer);
    expect(
      (await simulate({ scorecard: { ...PLAN, trials: 2, concurrency: 2, cases: { limit: 10 } } })).scorecard,
    ).toMatchObject({ cases: 20, doneSec: { p50: 100, p90: 100 } });
  });

  test('the load as it stands is compared with itself under other limits, and nothing is changed', async () => {
    await history();
    const id = await submit();
    const before = await sql('SELECT count(*) FROM runs UNION ALL SELECT slots FROM pools');
    const answer = await simulate({ runtime: 'here', change: { slots: 8 }, seed: 7 });
    expect(answer).toMatchObject({
      ...{ runtime: 'here', seed: 7, limits: { slots: 8, memoryMb: 1_000 }, scorecard: null },
      before: { cases: 40, wallSec: { p50: 100, p90: 100 }, peak: { slots: 4 } },
      after: { cases: 40, wallSec: { p50: 50, p90: 50 }, peak: { slots: 8 } },
    });
    expect(await sql('SELECT count(*) FROM runs UNION ALL SELECT slots FROM pools')).toEqual(before);
    await sql('UPDATE runs SET memory_mb = 500 WHERE scorecard_id = $1 AND ordinal < 3', [id]);
    const lowered = await simulate({ runtime: 'here', change: { memoryMb: 400 } });
    expect(lowered.after.refused).toBe(3);
    expect([lowered.before.peak.memoryMb, lowered.after.peak.memoryMb]).toEqual([1_000, 0]);
  });

  test('where nothing is known of durations, nothing is made up', async () => {
    const answer = await simulate({ scorecard: PLAN });
    expect(answer.after).toMatchObject({ cases: 40, wallSec: { p50: null, p90: null }, refused: 0 });
    expect(answer.scorecard).toMatchObject({ firstStartSec: { p50: 0, p90: 0 }, doneSec: { p50: null, p90: null } });
    expect(answer.assumptions.durations).toMatchObject([{ basis: null, attempts: 0, held: { p50: null, p90: null } }]);
    expect(answer.assumptions.notes.join()).toContain('nobody knows how long 40 of the cases take');
  });

  test.each<[string, unknown, number, string]>([
    ['neither', {}, 400, 'runtime'],
    ['a runtime without a change', { runtime: 'here' }, 400, 'change'],
    ['both', { runtime: 'here', change: { slots: 1 }, scorecard: PLAN }, 400, 'scorecard'],
    ['a change of nothing', { runtime: 'here', change: {} }, 400, 'change'],
    ['no slots', { runtime: 'here', change: { slots: 0 } }, 400, 'change.slots'],
    ['half a slot', { runtime: 'here', change: { slots: 1.5 } }, 400, 'change.slots'],
    ['a misspelt limit', { runtime: 'here', change: { slot: 2 } }, 400, 'change.slot'],
    ['a negative seed', { runtime: 'here', change: { slots: 2 }, seed: -1 }, 400, 'seed'],
    ['an automatic runtime', { scorecard: { ...PLAN, runtime: 'auto' } }, 400, 'scorecard.runtime'],
    ['an unknown case', { scorecard: { ...PLAN, cases: { ids: ['nope'] } } }, 404, 'scorecard.cases.ids'],
    ['too many runs', { scorecard: { ...PLAN, trials: 1_000, cases: undefined }, seed: 1.5 }, 400, 'seed'],
  ])('refuses %s, naming it', async (_title, body, status, path) => {
    const reply = await api.send('POST', '/simulate', body);
    expect([reply.status, reply.body.errors?.[0]?.path]).toEqual([status, path]);
  });

  test.each([
    [{ runtime: 'nowhere', change: { slots: 1 } }, 'nowhere'],
    [{ scorecard: { ...PLAN, runtime: 'nowhere' } }, 'nowhere'],
    [{ scorecard: { ...PLAN, dataset: 'nothing' } }, 'nothing'],
    [{ scorecard: { ...PLAN, harness: 'nobody' } }, 'nobody'],
  ])('refuses what is not there: %j', async (body, name) => {
    const { status, body: problem } = await api.send('POST', '/simulate', body);
    expect([status, problem.code]).toEqual([404, 'NOT_FOUND']);
    expect(problem.detail).toContain(name);
  });
});

describe('estimates', () => {
  /** Four run, the others wait. */
  async function crowd(): Promise<string> {
    const id = await submit();
    await sql(
      `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce)
       SELECT id, 1, pool_id, 'case:' || id, 9000 + ordinal, id, 'cafe' FROM runs WHERE scorecard_id = $1 AND ordinal < 4`,
      [id],
    );
    await sql(
      `UPDATE runs SET asked_at = now() + make_interval(secs => ordinal * 0.001), asked_by = 'window:' || scorecard_id || ':0',
         open_attempt = CASE WHEN ordinal < 4 THEN 1 END WHERE scorecard_id = $1`,
      [id],
    );
    return id;
  }

  test('are predicted for waiting runs, once each, and compared with when they started', async () => {
    await history();
    const id = await crowd();
    const predictions = api.app.get(PredictionsService, { strict: false });
    expect([await predictions.predict(), await predictions.predict(), await predictions.predict()]).toEqual([
      20, 16, 0,
    ]);
    const [row] = await sql(
      `SELECT extract(epoch FROM p50_at - predicted_at) AS p50 FROM wait_predictions WHERE run_id = $1`,
      [`${id}.12`],
    );
    expect(Number(row.p50)).toBeGreaterThan(25);
    expect(Number(row.p50)).toBeLessThanOrEqual(30);

    // Of the 36, 27 start in time for their P50, and 33 for their P90; nobody has to wait for that here.
    await sql(`UPDATE wait_predictions SET predicted_at = now() - interval '1 hour', p50_at = now() - interval '30 minutes',
               p90_at = now() - interval '20 minutes'`);
    await sql(
      `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, opened_at)
       SELECT id, 1, pool_id, 'case:' || id, 9500 + ordinal, id, 'cafe', now() - make_interval(mins =>
         CASE WHEN ordinal < 31 THEN 40 WHEN ordinal < 37 THEN 25 ELSE 10 END)
       FROM runs WHERE scorecard_id = $1 AND ordinal >= 4`,
      [id],
    );
    const read = parseScrape((await api.send('GET', '/metrics')).body);
    const of = (name: string, quantile: string) => sample(read, name, { quantile });
    expect([of('everdict_eta_coverage', '0.5'), of('everdict_eta_predictions', '0.5')]).toEqual([27 / 36, 36]);
    expect([of('everdict_eta_coverage', '0.9'), of('everdict_eta_predictions', '0.9')]).toEqual([33 / 36, 36]);

    const store = new PredictionStore(api.database.dataSource);
    expect(await store.purge()).toBe(0);
    await sql(`UPDATE wait_predictions SET predicted_at = now() - interval '8 days' WHERE run_id LIKE '%.1_'`);
    expect(await store.purge()).toBe(10);
  });

  test('a prediction whose time has not come, and one of a run that never started, count as nothing', async () => {
    await history();
    const id = await crowd();
    await api.app.get(PredictionsService, { strict: false }).predict();
    const store = new PredictionStore(api.database.dataSource);
    await sql('UPDATE wait_predictions SET p90_at = now() + interval $$1 hour$$, p50_at = now() + interval $$1 hour$$');
    expect(await store.coverage()).toEqual([]);
    await sql('UPDATE wait_predictions SET p50_at = now(), p90_at = now()');
    await sql(`UPDATE runs SET outcome = 'cancelled', settled_at = now() WHERE scorecard_id = $1 AND ordinal >= 4`, [
      id,
    ]);
    expect(await store.coverage()).toEqual([]);
  });
});
