import { type Api, type Reply, registerWorld, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: 6 });
}, 60_000);
afterAll(() => api.close());

const submit = async (): Promise<string> =>
  (await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' })).body.id;

/** Gives the first runs of a scorecard these outcomes. */
async function settle(id: string, outcomes: readonly string[]): Promise<void> {
  for (const [ordinal, outcome] of outcomes.entries()) {
    const [kind, errorClass = null, code = null] = outcome.split('/');
    await api.database.dataSource.query(
      `UPDATE runs SET outcome = $3, error_class = $4, error_code = $5, settled_at = now(), settled_attempt = 1
       WHERE scorecard_id = $1 AND ordinal = $2`,
      [id, ordinal, kind, errorClass, code],
    );
  }
}

const idsOf = ({ body }: Reply): string[] =>
  body.items.map(({ id, caseId }: { id: string; caseId?: string }) => caseId ?? id);

/** All pages of a list, one item at a time. */
async function walk(path: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (let page = 0; page < 50; page++) {
    const reply = await api.send('GET', `${path}limit=1${cursor}`);
    ids.push(...idsOf(reply));
    if (reply.body.next === null) return ids;
    cursor = `&cursor=${reply.body.next}`;
  }
  throw new Error('the list does not end');
}

describe('a scorecard', () => {
  test('shows its runs by state, and the pass rate three ways', async () => {
    const id = await submit();
    await settle(id, ['passed', 'failed', 'errored/infra/NODE_LOST', 'cancelled']);
    const { body } = await api.send('GET', `/scorecards/${id}`);
    expect(body.status).toBe('running');
    expect(body.counts).toEqual({
      submitted: 6,
      queued: 2,
      waiting: 0,
      running: 0,
      settled: 4,
      passed: 1,
      failed: 1,
      errored: 1,
      cancelled: 1,
      infraErrors: 1,
    });
    expect([body.rates.firstAttempt.n, body.rates.final.n, body.rates.infraExcluded.n]).toEqual([5, 5, 4]);
  });

  test('that does not exist is a 404', async () => {
    for (const path of ['', '/cases']) {
      const { status, body } = await api.send('GET', `/scorecards/sc_${'0'.repeat(26)}${path}`);
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    }
    expect((await api.send('POST', `/scorecards/sc_${'0'.repeat(26)}/cancel`)).status).toBe(404);
  });
});

describe('the cases of a scorecard', () => {
  test.each([
    ['all, in the order of the dataset', '?', ['case-0', 'case-1', 'case-2', 'case-3', 'case-4', 'case-5']],
    ['by outcome', '?outcome=passed&', ['case-0', 'case-4']],
    ['by class', '?class=agent&', ['case-3']],
    ['by outcome and class', '?outcome=errored&class=infra&', ['case-2']],
    ['by an outcome none has', '?outcome=cancelled&', []],
  ])('come %s, page by page', async (_title, filter, ids) => {
    const id = await submit();
    await settle(id, ['passed', 'failed', 'errored/infra/NODE_LOST', 'errored/agent/TIMEOUT', 'passed']);
    expect(await walk(`/scorecards/${id}/cases${filter}`)).toEqual(ids);
    expect(idsOf(await api.send('GET', `/scorecards/${id}/cases${filter.replace(/[?&]$/, '')}`))).toEqual(ids);
  });

  test.each(['outcome=won', 'class=bad', 'state=queued', 'cursor=WzFd'])('do not take the query %s', async (query) => {
    const { status, body } = await api.send('GET', `/scorecards/${await submit()}/cases?${query}`);
    expect([status, body.errors[0].path]).toEqual([400, query.split('=')[0]]);
  });
});

describe('the list of scorecards', () => {
  test('has the newest first, and each once over all pages', async () => {
    const made = [await submit(), await submit(), await submit()];
    const seen = await walk('/scorecards?');
    expect(seen.slice(0, 3)).toEqual(made.reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });
});

describe('cancelling', () => {
  test('settles what has no attempt, keeps what is finished, and tells the root workflow', async () => {
    const id = await submit();
    await settle(id, ['passed', 'failed']);
    const { status, body } = await api.send('POST', `/scorecards/${id}/cancel`);
    expect([status, body.status]).toEqual([200, 'cancelling']);
    expect(body.counts).toMatchObject({ passed: 1, failed: 1, cancelled: 4, settled: 6 });
    expect(api.calls.at(-1)).toEqual({ verb: 'cancel', workflowId: `scorecard:${id}` });
  });

  test('twice changes nothing more', async () => {
    const id = await submit();
    await api.send('POST', `/scorecards/${id}/cancel`);
    const { status, body } = await api.send('POST', `/scorecards/${id}/cancel`);
    expect([status, body.counts.cancelled]).toEqual([200, 6]);
  });

  test('what is finished leaves it finished', async () => {
    const id = await submit();
    await settle(
      id,
      Array.from({ length: 6 }, () => 'passed'),
    );
    await api.database.dataSource.query('UPDATE scorecards SET finished_at = now() WHERE id = $1', [id]);
    const { status, body } = await api.send('POST', `/scorecards/${id}/cancel`);
    expect([status, body.status, body.counts.passed]).toEqual([200, 'completed', 6]);
  });
});
