import fc from 'fast-check';
import { CensusStore } from '../../../store/census.store.js';
import { Depth } from '../../../store/depth.js';
import { InvariantStore } from '../../../store/invariant.store.js';
import { finish as end } from './finished.js';
import { type Api, registerWorld, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: 8 });
}, 60_000);
afterAll(() => api.close());

const sql = (statement: string, params: unknown[] = []) => api.database.dataSource.query(statement, params);

const submit = async (parts: object = {}): Promise<string> =>
  (await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here', ...parts })).body.id;

const finish = (id: string, outcomes: readonly string[]) => end(api, id, outcomes);
const retry = (id: string, query = '', headers: Record<string, string> = {}) =>
  api.send('POST', `/scorecards/${id}/retry${query}`, undefined, headers);
const view = async (id: string) => (await api.send('GET', `/scorecards/${id}`)).body;
const casesOf = async (id: string) => (await api.send('GET', `/scorecards/${id}/cases`)).body.items;

const MIXED = [
  'passed',
  'failed',
  'errored/infra/NODE_LOST',
  'errored/config/OOM_KILLED',
  'errored/harness/TOOL_MISSING',
  'errored/agent/TIMEOUT',
  'cancelled',
  'passed',
];

describe('a retry', () => {
  test.each([
    ['', [2]],
    ['?class=infra', [2]],
    ['?class=config', [3]],
    ['?class=harness', [4]],
    ['?class=agent', [5]],
    ['?class=errored', [2, 3, 4, 5]],
    ['?class=cancelled', [6]],
    ['?class=failed', [1]],
    ['?class=infra&class=cancelled', [2, 6]],
    ['?class=infra&class=infra&class=errored&class=failed', [1, 2, 3, 4, 5]],
  ])('by %s runs again what ended like that, and carries the rest', async (query, again) => {
    const id = await submit();
    await finish(id, MIXED);
    const { status, body, headers } = await retry(id, query);
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/scorecards/${body.id}`);
    expect(body).toMatchObject({ retryOf: id, cases: 8, retried: again.length, carried: 8 - again.length });

    const [before, after] = [await casesOf(id), await casesOf(body.id)];
    const numbers = before.map((_run: unknown, i: number) => i);
    expect(numbers.filter((i: number) => after[i].state === 'queued')).toEqual(again);
    for (const i of numbers.filter((n: number) => !again.includes(n))) {
      const { id: origin, scorecard: _scorecard, createdAt: _createdAt, ...same } = before[i];
      expect(after[i]).toMatchObject({ ...same, id: `${body.id}.${i}`, carriedFrom: origin });
    }
    expect(again.map((i) => [after[i].carriedFrom, after[i].outcome, after[i].attempts])).toEqual(
      again.map(() => [null, null, 0]),
    );
    expect(api.calls.filter(({ workflowId }) => workflowId === `scorecard:${body.id}`)).toEqual([
      {
        verb: 'start',
        workflowId: `scorecard:${body.id}`,
        argument: { workspaceId: 'default', scorecardId: body.id, total: 8 },
      },
    ]);
  });

  test('keeps the numbers as they stood before it, whatever was retried before', async () => {
    const id = await submit({ metadata: { branch: 'main' } });
    await finish(id, MIXED);
    const first = (await retry(id, '?class=failed&class=infra')).body.id;
    await finish(first, ['passed', 'errored/infra/EVICTED']);
    const second = (await retry(first, '?class=infra')).body.id;
    await finish(second, ['passed']);

    const [zero, one, two] = [await view(id), await view(first), await view(second)];
    const line = { by: 'local', at: expect.any(String) };
    const lines = [
      {
        scorecard: id,
        classes: ['infra', 'failed'],
        retried: 2,
        decidedAgain: 1,
        counts: zero.counts,
        rates: zero.rates,
      },
      { scorecard: first, classes: ['infra'], retried: 1, decidedAgain: 0, counts: one.counts, rates: one.rates },
    ].map((each) => ({ ...each, ...line }));
    expect([zero.rerolls, one.rerolls, two.rerolls]).toEqual([[], lines.slice(0, 1), lines]);
    expect([zero.retryOf, one.retryOf, two.retryOf]).toEqual([null, id, first]);
    expect(two).toMatchObject({ metadata: { branch: 'main' }, dataset: zero.dataset, harness: zero.harness });

    // The ones that passed after a retry are no first attempts; those that were carried still are.
    expect(two.rates.final).toMatchObject({ n: 7, passed: 4 });
    expect(two.rates.firstAttempt).toMatchObject({ n: 7, passed: 2 });
    // What was carried twice still names the run that has the attempts.
    expect((await casesOf(second)).map((run: { carriedFrom: string | null }) => run.carriedFrom)).toEqual([
      `${id}.0`,
      `${first}.1`,
      null,
      ...[3, 4, 5, 6, 7].map((i) => `${id}.${i}`),
    ]);
  });

  test.each([
    ['?class=infra&class=cancelled', 0],
    ['?class=config', 1],
    ['?class=harness', 1],
    ['?class=agent', 1],
    ['?class=failed', 1],
    ['?class=errored&class=failed&class=cancelled', 4],
  ])('by %s tells how many of those results a gate counts as failures', async (query, decidedAgain) => {
    const id = await submit();
    await finish(id, MIXED);
    const { body } = await retry(id, query);
    expect((await view(body.id)).rerolls).toEqual([expect.objectContaining({ decidedAgain })]);
  });

  test('of what a person settled runs nothing again that was decided', async () => {
    const id = await submit();
    await finish(id, MIXED);
    await sql(`UPDATE runs SET decided_by = 'ann' WHERE id IN ($1, $2)`, [`${id}.1`, `${id}.5`]);
    const { body } = await retry(id, '?class=failed&class=agent');
    expect((await view(body.id)).rerolls).toEqual([expect.objectContaining({ retried: 2, decidedAgain: 0 })]);
  });

  test('that runs again what never began says that it was its first attempt', async () => {
    const id = await submit();
    await finish(id, ['cancelled', 'passed']);
    const { body } = await retry(id, '?class=cancelled');
    await finish(body.id, ['passed']);
    expect((await view(body.id)).rates.firstAttempt).toMatchObject({ n: 8, passed: 8 });
  });

  test('shows attempts, time and logs of what it carries', async () => {
    const id = await submit();
    await finish(id, ['passed', 'errored/infra/NODE_LOST']);
    const chunk = `INSERT INTO log_chunks (run_id, attempt, stream, at, bytes) VALUES ($1, 1, 'stdout', 0, 'hello')`;
    await sql(chunk, [`${id}.0`]);
    const { body } = await retry(id);
    const [own, carried] = [`/runs/${id}.0`, `/runs/${body.id}.0`];
    const run = (await api.send('GET', carried)).body;
    expect(run).toMatchObject({ carriedFrom: `${id}.0`, outcome: 'passed', attempts: 1, durationMs: 20 });
    for (const path of ['/attempts', '/logs', '/logs?stream=stdout&attempt=1', '/logs?follow']) {
      const [expected, shown] = [await api.send('GET', own + path), await api.send('GET', carried + path)];
      expect([path, shown.status, shown.body]).toEqual([path, 200, expected.body]);
    }
    expect((await api.send('GET', `${carried}/logs`)).body).toBe('hello');
    expect((await api.send('GET', `${carried}/logs?attempt=2`)).status).toBe(404);
  });

  test('carries and reruns as many as were submitted, whatever the outcomes and classes', async () => {
    const outcome = fc.constantFrom(...MIXED);
    const classes = fc.uniqueArray(
      fc.constantFrom('infra', 'config', 'harness', 'agent', 'errored', 'cancelled', 'failed'),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(outcome, { minLength: 8, maxLength: 8 }), classes, async (outcomes, asked) => {
        const id = await submit();
        await finish(id, outcomes);
        const { status, body } = await retry(id, `?class=${asked.join('&class=')}`);
        const isLeft = (each: string) => each.split('/').some((part) => asked.some((one) => one === part));
        const left = outcomes.filter(isLeft).length;
        expect(status).toBe(left === 0 ? 400 : 202);
        if (left === 0) return;
        expect(body).toMatchObject({ retried: left, carried: 8 - left });
        const { counts } = await view(body.id);
        expect(counts).toMatchObject({ submitted: 8, queued: left, settled: 8 - left });
        expect(counts.passed + counts.failed + counts.errored + counts.cancelled).toBe(counts.settled);
      }),
      { numRuns: 8 },
    );
  });

  test('with the same Idempotency-Key is the first one', async () => {
    const id = await submit();
    await finish(id, MIXED);
    const key = { 'idempotency-key': `again-${id}` };
    const [first, second] = [await retry(id, '', key), await retry(id, '?class=infra', key)];
    expect(second.body).toMatchObject({ id: first.body.id, retried: 1, carried: 7 });
    const { status, body } = await retry(id, '?class=failed', key);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
  });
});

test('what is carried counts once among the runs of the deployment, and waits for nothing', async () => {
  const id = await submit();
  await finish(id, MIXED);
  const census = new CensusStore(api.database.dataSource);
  const total = async () => (await census.runs()).reduce((sum, { count }) => sum + count, 0);
  const before = await total();
  const { body } = await retry(id, '?class=errored');
  expect((await total()) - before).toBe(4);
  // As many as are run again may wait, and one fewer may not.
  const depth = (workspace: number) => new Depth({ workspace, deployment: 1_000_000 });
  const [{ open }] = await sql('SELECT count(*)::int AS open FROM runs WHERE outcome IS NULL');
  await expect(depth(open).refuseHopeless(api.database.dataSource, 'default', 0)).resolves.toBeUndefined();
  await expect(depth(open - 1).refuseHopeless(api.database.dataSource, 'default', 0)).rejects.toThrow('may have');
  const violations = await new InvariantStore(api.database.dataSource).violations();
  expect(violations.scorecard_counts_differ).not.toContain(body.id);
});

describe('a retry is refused', () => {
  test('while the scorecard has not finished', async () => {
    const { status, body } = await retry(await submit());
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect(body.detail).toMatch(/wait for its end, or cancel it/);
  });

  test('where no result is of the classes, naming those there are', async () => {
    const id = await submit();
    await finish(id, ['passed', 'failed', 'errored/agent/TIMEOUT', 'errored/harness/TOOL_MISSING']);
    const { status, body } = await retry(id, '?class=infra&class=cancelled');
    expect([status, body.code]).toEqual([400, 'NO_CASES']);
    expect(body.detail).toContain('no result is of class infra or cancelled');
    expect(body.detail).toMatch(/it has 2 errored agent, 2 errored harness, 2 failed, 2 passed$/);
  });

  test.each(['passed', 'INFRA', ''])('for the class %p', async (name) => {
    const { status, body } = await retry(await submit(), `?class=${name}`);
    expect([status, body.errors[0].path]).toEqual([400, 'class']);
  });

  test('where there is no such scorecard', async () => {
    expect((await retry(`sc_${'0'.repeat(26)}`)).status).toBe(404);
  });

  test('by the gates of a submit, and then stores nothing', async () => {
    const id = await submit();
    await finish(id, ['errored/infra/NODE_LOST', 'passed']);
    await sql(`UPDATE pools SET dial_mode = 'draining'`);
    const before = await rowCounts(api);
    const { status, body } = await retry(id);
    await sql(`UPDATE pools SET dial_mode = 'open'`);
    expect([status, body.code]).toEqual([409, 'RUNTIME_DRAINING']);
    expect(await rowCounts(api)).toEqual(before);
  });
});
