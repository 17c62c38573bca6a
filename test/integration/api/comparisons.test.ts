import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: 4 });
}, 60_000);
afterAll(() => api.close());

const UNKNOWN = `sc_${'0'.repeat(26)}`;

/** A finished scorecard whose runs, trial by trial, ended so. */
async function finished(outcomes: readonly string[], request: Record<string, unknown> = {}): Promise<string> {
  const body = { dataset: 'tasks', harness: 'echo', runtime: 'here', ...request };
  const { id } = (await api.send('POST', '/scorecards', body)).body;
  for (const [ordinal, outcome] of outcomes.entries()) {
    const [kind, errorClass = null, code = null] = outcome.split('/');
    await api.database.dataSource.query(
      `UPDATE runs SET outcome = $3, error_class = $4, error_code = $5, settled_at = now(), settled_attempt = 1
       WHERE scorecard_id = $1 AND ordinal = $2`,
      [id, ordinal, kind, errorClass, code],
    );
  }
  await api.database.dataSource.query('UPDATE scorecards SET finished_at = now() WHERE id = $1', [id]);
  return id;
}

const diff = (baseline: string, candidate: string, more = '') =>
  api.send('GET', `/scorecards/diff?baseline=${baseline}&candidate=${candidate}${more}`);

describe('two scorecards', () => {
  test('are compared case by case, with a paired test', async () => {
    const baseline = await finished(['passed', 'passed', 'failed', 'passed']);
    const candidate = await finished(['failed', 'passed', 'passed', 'errored/agent/TIMEOUT']);
    const { status, body } = await diff(baseline, candidate);
    expect(status).toBe(200);
    expect([body.baseline.id, body.candidate.id, body.basis, body.differs]).toEqual([baseline, candidate, 'all', []]);
    expect(body.counts).toMatchObject({ regressed: 1, fixed: 1, errored: 1, unchanged: 1 });
    expect(body.changes.map(({ key, transition }: Record<string, unknown>) => [key, transition])).toEqual([
      ['case-0', 'regressed'],
      ['case-3', 'errored'],
      ['case-2', 'fixed'],
    ]);
    expect(body.test).toMatchObject({ pairs: 4, regressed: 2, fixed: 1, pValue: 1, difference: -0.25 });
    expect(body.candidate.counts).toMatchObject({ passed: 2, failed: 1, errored: 1 });

    const { body: bounded } = await diff(baseline, candidate, '&limit=1');
    expect([bounded.changes.length, bounded.hasMore, bounded.counts]).toEqual([1, true, body.counts]);
  });

  test('of which one ran fewer cases are compared, and what is gone is missing', async () => {
    const baseline = await finished(['passed', 'passed', 'failed', 'passed']);
    const candidate = await finished(['passed'], { cases: { ids: ['case-1'] } });
    expect((await diff(baseline, candidate)).body.counts).toMatchObject({ missing: 3, unchanged: 1 });
    expect((await diff(candidate, baseline)).body.counts).toMatchObject({ new: 3, unchanged: 1 });
  });

  test('are found by the name that the baseline is pinned under', async () => {
    const baseline = await finished(['passed', 'passed', 'passed', 'passed']);
    expect((await api.send('PUT', '/baselines/main', { scorecard: baseline })).status).toBe(200);
    const { body } = await diff('main', baseline);
    expect([body.baseline.id, body.counts.unchanged]).toEqual([baseline, 4]);
  });
});

describe('what cannot be compared', () => {
  test('is refused by what differs, and compared on what is the same when asked to', async () => {
    const cases = [
      { id: 'case-0', task: 'another task', tags: ['even'] },
      { id: 'case-1', task: 'task 1', tags: [], graders: [{ kind: 'equals', value: '1' }] },
      { id: 'case-2', task: 'task 2', tags: ['even'] },
      { id: 'more', task: 'one more' },
    ];
    await api.send('POST', '/datasets', { id: 'tasks', version: '2.0.0', cases });
    const baseline = await finished(['passed', 'passed', 'failed', 'passed'], { dataset: 'tasks@1.0.0' });
    const candidate = await finished(['passed', 'passed', 'passed', 'passed'], { dataset: 'tasks@2.0.0' });

    const { status, body } = await diff(baseline, candidate);
    expect([status, body.code]).toEqual([409, 'NOT_COMPARABLE']);
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['dataset', 'cases', 'graders']);
    expect(body.detail).toContain(
      `${baseline} and ${candidate} cannot be compared: dataset: the baseline is of tasks@1.0.0`,
    );
    expect(body.detail).toContain('cases: 1 case of both differ in content: case-0');
    expect(body.detail).toContain('on=intersection');

    const { body: common } = await diff(baseline, candidate, '&on=intersection');
    expect(common.basis).toBe('intersection');
    expect(common.counts).toMatchObject({ fixed: 1, new: 0, missing: 0, unchanged: 0 });
    expect(common.differs.map(({ what }: { what: string }) => what)).toContain('graders');
  });

  test('has another number of trials', async () => {
    const once = await finished(['passed'], { cases: { limit: 1 } });
    const twice = await finished(['passed', 'failed'], { cases: { limit: 1 }, trials: 2 });
    const { status, body } = await diff(once, twice);
    expect([status, body.code, body.errors[0].path]).toEqual([409, 'NOT_COMPARABLE', 'trials']);
    expect((await diff(once, twice, '&on=intersection')).body.test).toMatchObject({ pairs: 1, regressed: 0 });
  });

  test('has nothing in common, which no intersection mends', async () => {
    const cases = [{ id: 'alien', task: 'another' }];
    await api.send('POST', '/datasets', { id: 'other', version: '1.0.0', cases });
    const other = await finished(['passed'], { dataset: 'other' });
    const { status, body } = await diff(
      await finished(['passed', 'passed', 'passed', 'passed']),
      other,
      '&on=intersection',
    );
    expect([status, body.code]).toEqual([409, 'NOT_COMPARABLE']);
    expect(body.detail).toContain('cases: none is the same on both sides');
    expect(body.detail).not.toContain('on=intersection');
  });

  test('still runs', async () => {
    const done = await finished(['passed', 'passed', 'passed', 'passed']);
    const request = { dataset: 'tasks', harness: 'echo', runtime: 'here' };
    const { id } = (await api.send('POST', '/scorecards', request)).body;
    for (const { status, body } of [await diff(done, id), await diff(id, done)]) {
      expect([status, body.code]).toEqual([409, 'CONFLICT']);
      expect(body.detail).toContain(`${id} is queued: wait until it is finished`);
    }
  });

  test.each([
    ['an unknown scorecard', `baseline=${UNKNOWN}&candidate=${UNKNOWN}`, 404],
    ['an unknown name', `baseline=nightly&candidate=${UNKNOWN}`, 404],
    ['no candidate', `baseline=${UNKNOWN}`, 400],
    ['a name that cannot be one', `baseline=Main!&candidate=${UNKNOWN}`, 400],
    ['an unknown basis', `baseline=${UNKNOWN}&candidate=${UNKNOWN}&on=some`, 400],
    ['too many changes', `baseline=${UNKNOWN}&candidate=${UNKNOWN}&limit=1001`, 400],
    ['an unknown parameter', `baseline=${UNKNOWN}&candidate=${UNKNOWN}&base=1`, 400],
  ])('is asked for with %s', async (_title, query, status) => {
    expect((await api.send('GET', `/scorecards/diff?${query}`)).status).toBe(status);
  });
});

describe('the trials of a scorecard', () => {
  test('say how often a case passes once and every time, and which are flaky', async () => {
    const ends = ['passed', 'passed', 'passed', 'failed', 'failed', 'failed', 'passed', 'errored/infra/NODE_LOST'];
    const id = await finished(ends, { trials: 2 });
    const { status, body } = await api.send('GET', `/scorecards/${id}/trials`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ trials: 2, cases: 3, incomplete: 1, passAt1: { n: 3, rate: 0.5 }, flakyCount: 1 });
    expect(body.passHatK.map(({ k, rate }: { k: number; rate: number }) => [k, rate.toFixed(3)])).toEqual([
      [1, '0.500'],
      [2, '0.333'],
    ]);
    expect(body.flaky).toEqual([{ caseId: 'case-1', passed: 1, failed: 1 }]);
  });

  test('of an unknown scorecard are a 404', async () => {
    expect((await api.send('GET', `/scorecards/${UNKNOWN}/trials`)).status).toBe(404);
  });
});
