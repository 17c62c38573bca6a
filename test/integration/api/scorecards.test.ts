import { SidesService } from '../../../api/scorecards/sides.service.js';
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
      decided: 0,
    });
    expect([body.rates.firstAttempt.n, body.rates.final.n, body.rates.infraExcluded.n]).toEqual([3, 3, 2]);
  });

  test('that does not exist is a 404', async () => {
    for (const path of ['', '/cases', '/events', '/stragglers']) {
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

  test.each(['outcome=won', 'class=bad', 'state=done', 'cursor=WzFd'])('do not take the query %s', async (query) => {
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

describe('an operator’s decision', () => {
  const decide = (id: string, caseId: string, body: object) =>
    api.send('POST', `/scorecards/${id}/cases/${encodeURIComponent(caseId)}/settle`, body);
  const failed = { outcome: 'failed', reason: 'it hangs' };

  test('settles a run, says who decided and why, and is in no pass rate', async () => {
    const id = await submit();
    await settle(id, ['passed']);
    const { status, body } = await decide(id, 'case-1', { outcome: 'passed', reason: 'checked by hand' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ caseId: 'case-1', outcome: 'passed', decidedBy: 'local', reason: 'checked by hand' });
    expect((await api.send('GET', `/runs/${body.id}`)).body.decidedBy).toBe('local');

    const { counts, rates } = (await api.send('GET', `/scorecards/${id}`)).body;
    expect(counts).toMatchObject({ submitted: 6, settled: 2, passed: 2, decided: 1 });
    expect(rates.final).toMatchObject({ n: 1, passed: 1 });
    expect(api.calls.slice(-2)).toEqual([
      { verb: 'cancel', workflowId: `case:${id}.1` },
      { verb: 'signal', workflowId: `window:${id}:0`, argument: [`case:${id}.1`] },
    ]);
  });

  test('that a case errored is the infrastructure’s, never the model’s', async () => {
    const { body } = await decide(await submit(), 'case-0', { outcome: 'errored', reason: 'the site is down' });
    expect(body).toMatchObject({ errorClass: 'infra', errorCode: 'OPERATOR_DECISION', reason: 'the site is down' });
  });

  test('again changes nothing; another one is refused, as is one against a result', async () => {
    const id = await submit();
    await settle(id, ['passed']);
    const first = await decide(id, 'case-1', failed);
    const again = await decide(id, 'case-1', { ...failed, reason: 'another' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(await decide(id, 'case-1', { ...failed, outcome: 'passed' })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', detail: `${id}.1 is failed already, by a decision of local` },
    });
    const against = await decide(id, 'case-0', failed);
    expect([against.status, against.body.detail]).toEqual([409, `${id}.0 is passed already, by its result`]);
    const same = await decide(id, 'case-0', { ...failed, outcome: 'passed' });
    expect([same.status, same.body.decidedBy]).toEqual([200, null]);
  });

  test('that ends the last run ends the scorecard', async () => {
    const id = await submit();
    await settle(
      id,
      Array.from({ length: 5 }, () => 'passed'),
    );
    await decide(id, 'case-5', failed);
    expect((await api.send('GET', `/scorecards/${id}`)).body.status).toBe('completed');
  });

  test('finds a case whatever is in its id, and the trial that is meant', async () => {
    const caseId = 'suite/größe 1%2F?#';
    await api.send('POST', '/datasets', { id: 'odd', version: '1', cases: [{ id: caseId, task: 'x' }] });
    const request = { dataset: 'odd', harness: 'echo', runtime: 'here', trials: 2 };
    const { id } = (await api.send('POST', '/scorecards', request)).body;
    const unclear = await decide(id, caseId, failed);
    expect([unclear.status, unclear.body.errors[0].path]).toEqual([400, 'trial']);
    expect((await decide(id, caseId, { ...failed, trial: 3 })).status).toBe(404);
    const { body } = await decide(id, caseId, { ...failed, trial: 2 });
    expect([body.id, body.caseId, body.trial]).toEqual([`${id}.1`, caseId, 2]);
  });

  test('over what does not exist is a 404, and without a reason or a known outcome a 400', async () => {
    const id = await submit();
    expect((await decide(`sc_${'0'.repeat(26)}`, 'case-0', failed)).status).toBe(404);
    const unknown = await decide(id, 'case-99', failed);
    expect([unknown.status, unknown.body.detail]).toEqual([404, `there is no case "case-99" of ${id}`]);
    const faults = [
      { outcome: 'failed' },
      { ...failed, reason: ' ' },
      { ...failed, outcome: 'won' },
      { ...failed, by: 'me' },
    ];
    for (const body of faults) expect((await decide(id, 'case-0', body)).status).toBe(400);
  });
});

describe('a deadline', () => {
  test('is counted from the submit, and shown', async () => {
    const request = { dataset: 'tasks', harness: 'echo', runtime: 'here', deadlineSec: 90 };
    const { id } = (await api.send('POST', '/scorecards', request)).body;
    const { createdAt, deadlineAt } = (await api.send('GET', `/scorecards/${id}`)).body;
    expect(Date.parse(deadlineAt) - Date.parse(createdAt)).toBe(90_000);
    const start = api.calls.findLast(({ workflowId }) => workflowId === `scorecard:${id}`);
    expect(start?.argument).toMatchObject({ deadlineAt: Date.parse(deadlineAt) });
  });

  test.each([0, -1, 1.5, 30 * 86_400 + 1, '60'])('of %j seconds is refused', async (deadlineSec) => {
    const request = { dataset: 'tasks', harness: 'echo', runtime: 'here', deadlineSec };
    const { status, body } = await api.send('POST', '/scorecards', request);
    expect([status, body.errors[0].path]).toEqual([400, 'deadlineSec']);
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

describe('a scorecard that may end early', () => {
  const submitEarly = (policy: object, parts: object = {}, request: object = {}): Promise<Reply> =>
    api.send('POST', '/scorecards', {
      ...{ dataset: 'tasks', harness: 'echo', runtime: 'here', ...request },
      earlyStop: { policy, ...parts },
    });
  const finished = async (request: object = {}): Promise<string> => {
    const { body } = await api.send('POST', '/scorecards', {
      ...{ dataset: 'tasks', harness: 'echo', runtime: 'here', ...request },
    });
    await settle(
      body.id,
      Array.from({ length: body.cases }, () => 'passed'),
    );
    await api.database.dataSource.query('UPDATE scorecards SET finished_at = now() WHERE id = $1', [body.id]);
    return body.id;
  };

  test('keeps its rules and its baseline as they were resolved, and its root is told', async () => {
    const baseline = await finished();
    const { status, body } = await submitEarly({ maxRegressions: 1 }, { baseline, errorRate: 0.1 });
    expect(status).toBe(202);
    const [{ early_stop: stored }] = await api.database.dataSource.query(
      'SELECT early_stop FROM scorecards WHERE id = $1',
      [body.id],
    );
    expect(stored).toEqual({
      policy: {
        ref: null,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        rules: { maxRegressions: 1, minCoverage: 1, maxInfraShare: 1, rerolls: 'infra' },
      },
      ...{ baseline, errorRate: 0.1, minCases: 20 },
    });
    const start = api.calls.find(({ workflowId }) => workflowId === `scorecard:${body.id}`);
    expect(start?.argument).toMatchObject({ stopsEarly: true });
  });

  test.each([
    ['no baseline to count against', { maxRegressions: 0 }, {}, 'earlyStop.baseline'],
    ['a tag of no case', { perTag: { odd: { minPassRate: 1 } } }, {}, 'earlyStop.policy.perTag.odd'],
    ['a critical tag of no case', { critical: { tags: ['odd'] } }, {}, 'earlyStop.policy.critical.tags[0]'],
    ['a critical case that is not selected', { critical: { cases: ['no'] } }, {}, 'earlyStop.policy.critical.cases'],
    ['more trials than there are', { minPassRate: 1, minTrialsPassed: 2 }, {}, 'earlyStop.policy.minTrialsPassed'],
    ['an error rate above a half', { minPassRate: 1 }, { errorRate: 0.6 }, 'earlyStop.errorRate'],
  ])('is refused with %s', async (_title, policy, parts, path) => {
    const { status, body } = await submitEarly(policy, parts);
    expect(status).toBe(400);
    expect(body.errors.map((error: { path: string }) => error.path)).toEqual([path]);
  });

  test('waits for its turn among those who read whole scorecards', async () => {
    const baseline = await finished();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sides = api.app.get(SidesService, { strict: false });
    const holders = [sides.inTurn(() => held), sides.inTurn(() => held)];
    let isAnswered = false;
    const submitted = submitEarly({ maxRegressions: 0 }, { baseline }).finally(() => {
      isAnswered = true;
    });
    for (let i = 0; i < 20; i += 1) await submit();
    expect(isAnswered).toBe(false);
    release();
    await Promise.all(holders);
    expect((await submitted).status).toBe(202);
  });

  test('is refused with a baseline that is not there, not finished, or of something else', async () => {
    const baselineOf = async (baseline: string, request: object = {}) => {
      const { status, body } = await submitEarly({ maxRegressions: 0 }, { baseline }, request);
      return [status, body.detail];
    };
    const gone = 'sc_00000000000000000000000000';
    expect(await baselineOf(gone)).toEqual([404, expect.stringContaining(gone)]);
    expect(await baselineOf('nightly')).toEqual([404, expect.stringContaining('nightly')]);
    expect(await baselineOf(await submit())).toEqual([409, expect.stringContaining('wait until it is finished')]);
    const some = await finished({ cases: { limit: 2 } });
    expect(await baselineOf(some)).toEqual([400, expect.stringMatching(/lacks 4 of the selected cases: "case-2"/)]);
    const all = await finished();
    expect(await baselineOf(all, { cases: { limit: 5 } })).toEqual([
      400,
      expect.stringMatching(/has 1 cases that .* "case-5"/),
    ]);
    expect(await baselineOf(all, { trials: 2 })).toEqual([400, expect.stringMatching(/has trials 1, and this has 2/)]);
    const other = {
      id: 'tasks',
      version: '2',
      cases: [0, 1, 2, 3, 4, 5].map((i) => ({ id: `case-${i}`, task: 'other' })),
    };
    await api.send('POST', '/datasets', other);
    expect(await baselineOf(all, { dataset: 'tasks@2' })).toEqual([400, expect.stringContaining('other content')]);
  });
});
