import { once } from 'node:events';
import { connect } from 'node:net';
import { ExportedRun, ExportedScorecard } from '../../../contracts/export.js';
import { eventually } from '../../eventually.js';
import { countQueries } from './query-count.js';
import { type Api, registerWorld, startApi } from './server.js';

const SIZE = 1_200;
const ANSWER = Buffer.alloc(32 * 1_024, 'x');

let api: Api;
let id: string;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: SIZE });
  id = (await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' })).body.id;
  const query = (sql: string, ...params: unknown[]) => api.database.dataSource.query(sql, params);
  const usage = Buffer.from('{"inputTokens": 3, "outputTokens": 4, "costUsd": 0.25}').toString('hex');
  await query(
    `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, closed_at, end_kind, record, answer)
     SELECT id, 1, pool_id, id, ordinal, id, 'n', now(), 'record',
       jsonb_build_object('usage', $2::text, 'commandMs', 7, 'answerCut', ordinal = 1), $3
     FROM runs WHERE scorecard_id = $1`,
    ...[id, usage, ANSWER],
  );
  await query(
    `UPDATE runs SET outcome = 'passed', settled_attempt = 1, settled_at = now(),
       scores = '[{"grader": "g", "kind": "equals", "passed": true, "detail": "=cmd"}]' WHERE scorecard_id = $1`,
    id,
  );
  await query(`UPDATE attempts SET answer = '\\xff00' WHERE run_id = $1`, `${id}.0`);
}, 120_000);
afterAll(() => api.close());

const exported = async (query = ''): Promise<string> =>
  (await fetch(`${api.url}/scorecards/${id}/export${query}`)).text();
const linesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('an export has every run once, in the order of the scorecard, after a head that counts them', async () => {
  const [head, ...runs] = linesOf(await exported());
  const { body } = await api.send('GET', `/scorecards/${id}`);
  expect(ExportedScorecard.parse(head)).toEqual({ kind: 'scorecard', runs: SIZE, scorecard: body });
  const parsed = runs.map((run) => ExportedRun.parse(run));
  expect(parsed.map(({ run }) => run)).toEqual(Array.from({ length: SIZE }, (_, ordinal) => `${id}.${ordinal}`));
  expect(parsed[1]).toEqual({
    ...{ kind: 'run', run: `${id}.1`, caseId: 'case-1', trial: 1, tags: [], runtime: 'here@1.0.0' },
    ...{ outcome: 'passed', errorClass: null, errorCode: null, reason: null, attempts: 1, durationMs: 7 },
    ...{ tokens: 7, costUsd: 0.25, steps: null, carriedFrom: null, decidedBy: null },
    ...{ scores: [{ grader: 'g', kind: 'equals', passed: true, detail: '=cmd' }], settledAt: expect.any(String) },
  });
});

test('answers come when they are asked for, and in hex where they are no text', async () => {
  const [, first, second] = linesOf(await exported('?answers=true'));
  expect(first).toMatchObject({ answer: 'ff00', answerEncoding: 'hex', answerCut: false });
  expect(second).toMatchObject({ answer: ANSWER.toString(), answerEncoding: 'utf8', answerCut: true });
});

test('CSV is a file of rows', async () => {
  const reply = await api.send('GET', `/scorecards/${id}/export?format=csv`);
  expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(reply.headers.get('content-disposition')).toContain(`${id}.csv`);
  expect(reply.body.split('\r\n')).toHaveLength(SIZE + 2);
});

test('what is deleted while it is exported breaks the answer off', async () => {
  const other = (await api.send('POST', '/scorecards', { dataset: 'tasks', harness: 'echo', runtime: 'here' })).body.id;
  await api.database.dataSource.query('DELETE FROM runs WHERE scorecard_id = $1 AND ordinal > 900', [other]);
  await expect(api.send('GET', `/scorecards/${other}/export`)).rejects.toThrow('terminated');
});

/** Once nothing more was asked of the database for a while. */
const settled = (count: () => number): Promise<number> => {
  const seen: number[] = [];
  return eventually('nothing more is read', async () => {
    seen.push(count());
    const last = seen.slice(-20);
    return last.length === 20 && new Set(last).size === 1 ? last[0] : undefined;
  });
};

test('a reader that takes nothing holds back the reading, and one that goes away ends it', async () => {
  const { count, stop } = countQueries(api.database.dataSource);
  try {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause();
    await once(socket, 'connect');
    socket.write(`GET /scorecards/${id}/export?answers=true HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    await eventually('the first page is read', async () => count() > 2);
    const before = await settled(count);
    // All of it are 38 pages.
    expect(before).toBeLessThan(25);
    socket.destroy();
    expect(await settled(count)).toBeLessThanOrEqual(before + 1);
  } finally {
    stop();
  }
}, 30_000);

test.each(['format=xml', 'answers=maybe', 'with=logs'])('%s is refused', async (query) => {
  expect((await api.send('GET', `/scorecards/${id}/export?${query}`)).status).toBe(400);
});
