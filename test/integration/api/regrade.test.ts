import { MockActivityEnvironment } from '@temporalio/testing';
import { createRegradeActivities } from '../../../activities/index.js';
import { RegradeStore } from '../../../store/regrade.store.js';
import { ResultStore } from '../../../store/result.store.js';
import { ScorecardStore } from '../../../store/scorecard.store.js';
import { aRecord } from '../../builders.js';
import { finish } from './finished.js';
import { type Api, registerWorld, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: 6 });
}, 60_000);
afterAll(() => api.close());

const sql = (statement: string, params: unknown[] = []) => api.database.dataSource.query(statement, params);

const ANSWERS = ['42\n', 'yes', '{"n":1}', 'no', '', '42'];
/** The second was cut. */
const records = ANSWERS.map((answer, i) => aRecord({ answer: Buffer.from(answer), answerCut: i === 1, status: i % 2 }));

/** A finished scorecard of six answers: two that graders judged as passed, then two failed, one errored, one cancelled. */
async function judged(): Promise<string> {
  const { body } = await api.send('POST', '/scorecards', { dataset: 'tasks@1.0.0', harness: 'echo', runtime: 'here' });
  const outcomes = ['passed', 'passed', 'failed', 'failed', 'errored/infra/NODE_LOST', 'cancelled'];
  await finish(api, body.id, outcomes, { records });
  return body.id;
}

const regrade = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  api.send('POST', `/scorecards/${id}/regrade`, body, headers);
const view = async (id: string) => (await api.send('GET', `/scorecards/${id}`)).body;
const casesOf = async (id: string) => (await api.send('GET', `/scorecards/${id}/cases`)).body.items;

/** What its root has done for it. */
async function grade(id: string): Promise<void> {
  const { regradeScorecard } = createRegradeActivities({ regrades: new RegradeStore(api.database.dataSource) });
  await new MockActivityEnvironment().run(regradeScorecard, { scorecardId: id });
  await new ScorecardStore(api.database.dataSource).complete(id);
}

const byNumber = { graders: [{ kind: 'numeric', value: 42 }] };

describe('a scorecard that is graded anew', () => {
  test('is read in the order of its runs', async () => {
    const request = { dataset: 'tasks@1.0.0', harness: 'echo', runtime: 'here', trials: 34 };
    const { body } = await api.send('POST', '/scorecards', request);
    await finish(api, body.id, ['passed']);
    const { id } = (await regrade(body.id, byNumber)).body;
    const page = await new RegradeStore(api.database.dataSource).page(id);
    const ordinals = page.map((run) => Number(run.id.split('.')[1])).sort((a, b) => a - b);
    expect(ordinals).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  test('has the verdicts of the new graders over the stored answers, and nothing runs', async () => {
    const id = await judged();
    const { status, body, headers } = await regrade(id, byNumber);
    expect(status).toBe(202);
    expect([headers.get('location'), body.regradeOf]).toEqual([`/scorecards/${body.id}`, id]);
    expect(api.calls.at(-1)).toEqual({
      verb: 'start',
      workflowId: `scorecard:${body.id}`,
      argument: { workspaceId: 'default', scorecardId: body.id, total: 6, isRegrade: true },
    });
    const begun = await view(body.id);
    expect(begun.counts).toMatchObject({ submitted: 6, queued: 4, waiting: 0, running: 0, settled: 2 });
    expect((await casesOf(body.id))[0]).toMatchObject({ state: 'queued', waiting: null, carriedFrom: `${id}.0` });

    await grade(body.id);
    const done = await view(body.id);
    expect(done).toMatchObject({ status: 'completed', regradeOf: id, retryOf: null, rerolls: [] });
    expect(done.counts).toMatchObject({ passed: 1, failed: 3, errored: 1, cancelled: 1, infraErrors: 1 });
    const reasons = (await casesOf(body.id)).map((run: { reason: string }) => run.reason);
    expect(reasons.slice(0, 4)).toEqual([
      null,
      'the answer was cut: numeric needs all of it',
      'the answer is not a number: "{\\"n\\":1}"',
      'the answer is not a number: "no"',
    ]);
    expect((await view(id)).counts).toMatchObject({ passed: 2, failed: 2 });
    const shown = (await api.send('GET', `/runs/${body.id}.0/attempts`)).body.items;
    expect(shown.map(({ answer }: { answer: string }) => answer)).toEqual(['42\n']);
  });

  test.each([
    ['exit-code', { kind: 'exit-code', expected: 1 }, [false, true, false, true]],
    ['equals', { kind: 'equals', value: '42' }, [true, false, false, false]],
    ['contains', { kind: 'contains', value: 'e' }, [false, true, false, false]],
    ['regex', { kind: 'regex', pattern: '^(yes|no)$' }, [false, false, false, true]],
    ['json', { kind: 'json', path: '$.n', value: 1 }, [false, false, true, false]],
  ])('by %s', async (_kind, grader, passed) => {
    const { body } = await regrade(await judged(), { graders: [grader] });
    await grade(body.id);
    const outcomes = (await casesOf(body.id)).map((run: { outcome: string }) => run.outcome === 'passed');
    expect(outcomes.slice(0, 4)).toEqual(passed);
  });

  test('takes the graders of the same cases of another dataset, and is compared by those', async () => {
    const id = await judged();
    const cases = ANSWERS.map((answer, i) => ({
      id: `case-${i}`,
      task: `task ${i}`,
      tags: i % 2 === 0 ? ['even'] : [],
      graders: i === 3 ? [] : [{ kind: 'equals', value: answer.trim() }],
    }));
    await api.send('POST', '/datasets', { id: 'tasks', version: '2.0.0', cases: cases.reverse() });
    const { status, body } = await regrade(id, { dataset: 'tasks@2.0.0' });
    expect(status).toBe(202);
    await grade(body.id);
    const outcomes = (await casesOf(body.id)).map((run: { outcome: string }) => run.outcome);
    expect(outcomes).toEqual(['passed', 'failed', 'passed', 'failed', 'errored', 'cancelled']);

    const results = new ResultStore(api.database.dataSource);
    const fresh = await api.send('POST', '/scorecards', { dataset: 'tasks@2.0.0', harness: 'echo', runtime: 'here' });
    const keys = async (of: string) =>
      Object.fromEntries(
        (await results.ofScorecard(of)).map((each) => [each.caseId, [each.contentHash, each.gradersHash]]),
      );
    expect(await keys(body.id)).toEqual(await keys(fresh.body.id));
    expect(await keys(body.id)).not.toEqual(await keys(id));
  });

  test('leaves what an operator decided, and names an answer that is no longer stored', async () => {
    const id = await judged();
    await sql(`UPDATE runs SET decided_by = 'mel' WHERE id = $1`, [`${id}.0`]);
    await sql('UPDATE attempts SET record = NULL, answer = NULL WHERE run_id = $1', [`${id}.2`]);
    const { body } = await regrade(id, { graders: [{ kind: 'contains', value: 'nothing has this' }] });
    await grade(body.id);
    const runs = await casesOf(body.id);
    expect(runs[0]).toMatchObject({ outcome: 'passed', decidedBy: 'mel' });
    expect(runs[2]).toMatchObject({ outcome: 'errored', errorClass: 'infra', errorCode: 'RESULT_LOST' });
    expect(runs[2].reason).toMatch(/no longer stored/);
  });

  test('keeps the ledger of what was retried before, and may be graded again but not retried', async () => {
    const id = await judged();
    const retried = (await api.send('POST', `/scorecards/${id}/retry`)).body.id;
    await finish(api, retried, ['passed'], { records });
    const once = (await regrade(retried, byNumber)).body.id;
    await grade(once);
    const twice = (await regrade(once, { graders: [{ kind: 'contains', value: '4' }] })).body.id;
    await grade(twice);
    expect((await view(twice)).rerolls).toEqual((await view(retried)).rerolls);
    expect((await view(twice)).rerolls).toHaveLength(1);
    const origins = (await casesOf(twice)).map(({ carriedFrom }: { carriedFrom: string }) => carriedFrom);
    expect(origins).toEqual([0, 1, 2, 3, 4, 5].map((i) => `${i === 4 ? retried : id}.${i}`));
    // What passed only after a retry is no first attempt, whoever grades it.
    const { firstAttempt, final } = (await view(twice)).rates;
    expect([firstAttempt.passed, final.passed]).toEqual([1, 2]);

    const { status, body } = await api.send('POST', `/scorecards/${once}/retry`);
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect(body.detail).toContain(`retry ${retried}`);
  });

  test('that is cancelled or decided before it is graded stays so', async () => {
    const { body } = await regrade(await judged(), byNumber);
    const settled = await api.send('POST', `/scorecards/${body.id}/cases/case-0/settle`, {
      outcome: 'failed',
      reason: 'seen by eye',
    });
    expect(settled.status).toBe(200);
    await api.send('POST', `/scorecards/${body.id}/cancel`);
    await grade(body.id);
    expect(await view(body.id)).toMatchObject({
      status: 'cancelled',
      counts: { cancelled: 4, decided: 1, errored: 1 },
    });
  });

  test('counts in no queue and as no work that was done', async () => {
    const settled = () => sql(`SELECT count(*)::int FROM runs WHERE carried_from IS NULL AND scorecard_id IS NOT NULL`);
    const before = await settled();
    const { body } = await regrade(await judged(), byNumber);
    const [row] = await sql('SELECT pool_ids FROM scorecards WHERE id = $1', [body.id]);
    expect(row.pool_ids).toEqual([]);
    expect((await api.send('GET', `/runs/${body.id}.0/waiting`)).body).toMatchObject({ state: 'queued', reason: null });
    const paused = await api.send('POST', `/scorecards/${body.id}/pause`, {});
    expect([paused.status, paused.body.code]).toEqual([409, 'CONFLICT']);
    expect((await settled())[0].count).toBe(before[0].count + 6);
  });

  test('with the same Idempotency-Key is the first one', async () => {
    const id = await judged();
    const key = { 'idempotency-key': `grade-${id}` };
    const first = await regrade(id, byNumber, key);
    expect((await regrade(id, byNumber, key)).body).toEqual({ ...first.body });
    expect((await regrade(id, { graders: [{ kind: 'equals', value: '1' }] }, key)).status).toBe(409);
  });
});

describe('grading anew is refused', () => {
  const manyCases = (parts: object[]) => parts.map((part, i) => ({ id: `case-${i}`, task: 'x', ...part }));

  test.each([
    ['without graders', {}, /give either `graders`/],
    ['by two things', { ...byNumber, dataset: 'tasks' }, /give either `graders`/],
    ['by none', { graders: [] }, /graders/],
    ['by graders of one id', { graders: [byNumber.graders[0], byNumber.graders[0]] }, /unique/],
    ['by a pattern that does not compile', { graders: [{ kind: 'regex', pattern: '(' }] }, /does not compile/],
    ['by a command', { graders: [{ kind: 'command', id: 'tests', command: 'npm test' }] }, /"tests".*needs the job/],
    ['by a kind that does not exist', { graders: [{ kind: 'judge' }] }, /kind/],
  ])('%s', async (_title, body, message) => {
    const { status, body: problem } = await regrade(await judged(), body);
    expect([status, problem.detail]).toEqual([400, expect.stringMatching(message)]);
  });

  test('by a dataset that lacks cases or has graders that need a job, naming them; nothing is stored', async () => {
    const id = await judged();
    await api.send('POST', '/datasets', { id: 'few', version: '1.0.0', cases: manyCases([{}, {}, {}, {}]) });
    const command = { graders: [{ kind: 'command', command: 'true' }] };
    await api.send('POST', '/datasets', {
      id: 'jobs',
      version: '1.0.0',
      cases: manyCases([{}, command, {}, {}, {}, {}]),
    });
    const before = await rowCounts(api);
    const few = await regrade(id, { dataset: 'few@1.0.0' });
    expect([few.status, few.body.detail]).toEqual([
      400,
      expect.stringMatching(/few@1.0.0 has no case "case-4", "case-5"/),
    ]);
    const jobs = await regrade(id, { dataset: 'jobs@1.0.0' });
    expect([jobs.status, jobs.body.detail]).toEqual([400, expect.stringMatching(/need the job, for case "case-1"/)]);
    expect((await regrade(id, { dataset: 'none@1.0.0' })).status).toBe(404);
    expect(await rowCounts(api)).toEqual(before);
  });

  test('of a scorecard that has not finished, that has no answer, or that is not there', async () => {
    const made = await api.send('POST', '/scorecards', { dataset: 'tasks@1.0.0', harness: 'echo', runtime: 'here' });
    expect((await regrade(made.body.id, byNumber)).body).toMatchObject({ status: 409, code: 'CONFLICT' });
    await finish(api, made.body.id, ['cancelled']);
    expect((await regrade(made.body.id, byNumber)).body).toMatchObject({ status: 400, code: 'NO_CASES' });
    expect((await regrade(`sc_${'0'.repeat(26)}`, byNumber)).status).toBe(404);
  });
});
