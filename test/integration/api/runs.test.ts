import type { LogStream } from '../../../contracts/log-events.js';
import { LogStore } from '../../../store/log.store.js';
import { type Api, registerWorld, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api);
}, 60_000);
afterAll(() => api.close());

const wanted = { dataset: 'tasks', caseId: 'case-1', harness: 'echo', runtime: 'here' };
const submit = async (request: object = wanted) => (await api.send('POST', '/runs', request)).body.id;

/** Opens attempt `n` of a run, as a worker would. */
const openAttempt = (id: string, n: number) =>
  api.database.dataSource.query(
    `WITH opened AS (UPDATE runs SET open_attempt = $2 WHERE id = $1)
     INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce)
     VALUES ($1, $2, 'rt:default:here', 'case:' || $1, (SELECT count(*) FROM attempts), 'everdict-' || $1 || '-' || $2, 'secret-nonce')`,
    [id, n],
  );

const append = (id: string, n: number, stream: LogStream, at: number, bytes: Uint8Array | string) =>
  new LogStore(api.database.dataSource).append(id, n, [{ stream, at, bytes: Buffer.from(bytes) }]);

describe('a run', () => {
  test('of a case of a dataset answers 202 with its place, and starts its case workflow', async () => {
    const reply = await api.send('POST', '/runs', wanted);
    const self = `/runs/${reply.body.id}`;
    expect([reply.status, reply.headers.get('location')]).toEqual([202, self]);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^run_/),
      state: 'queued',
      runtime: 'here@1.0.0',
      links: { self, attempts: `${self}/attempts`, logs: `${self}/logs`, cancel: `${self}/cancel` },
      warnings: [],
    });
    expect(api.calls.at(-1)).toEqual({
      verb: 'start',
      workflowId: `case:${reply.body.id}`,
      argument: {
        workspaceId: 'default',
        runId: reply.body.id,
        caseId: 'case-1',
        poolId: 'rt:default:here',
        kind: 'local',
        class: 'interactive',
        demand: {},
        infraRetries: 2,
        attempt: 1,
        queueDeadlineSec: 86_400,
      },
    });
    const { body } = await api.send('GET', self);
    expect(body).toMatchObject({
      caseId: 'case-1',
      scorecard: null,
      runtime: 'here@1.0.0',
      state: 'queued',
      attempts: 0,
    });
  });

  test('of a case of its own carries that case', async () => {
    const own = { id: 'mine', task: 'x', resources: { memoryMb: 100 }, placement: { target: 'here' } };
    const id = await submit({ case: own, harness: 'echo' });
    expect((await api.send('GET', `/runs/${id}`)).body.caseId).toBe('mine');
    expect(api.calls.at(-1)?.argument).toMatchObject({ demand: { memoryMb: 100 } });
  });

  test('is found again by its Idempotency-Key, and not with another body', async () => {
    const send = (change: object) =>
      api.send('POST', '/runs', { ...wanted, ...change }, { 'idempotency-key': 'run-key' });
    const [first, again, other] = [await send({}), await send({}), await send({ caseId: 'case-2' })];
    expect([first.body.id, other.status]).toEqual([again.body.id, 409]);
  });

  test.each([
    ['a case the dataset does not have', { caseId: 'none' }, 404, 'NOT_FOUND', '"none" in dataset tasks@1.0.0'],
    ['G63: an unknown runtime', { runtime: 'none' }, 404, 'NOT_FOUND', 'runtime none'],
    ['no runtime', { runtime: undefined }, 400, 'RUNTIME_REQUIRED', 'runtime'],
    ['neither case nor dataset', { dataset: undefined, caseId: undefined }, 400, 'BAD_REQUEST', 'either `case`'],
    ['both', { case: { id: 'a', task: 'x' } }, 400, 'BAD_REQUEST', 'either `case`'],
    [
      'a pattern that does not compile',
      {
        dataset: undefined,
        caseId: undefined,
        case: { id: 'a', task: 'x', graders: [{ kind: 'regex', pattern: '(' }] },
      },
      400,
      'BAD_SPEC',
      'case.graders[0].pattern',
    ],
    [
      'a demand above the envelope',
      { dataset: undefined, caseId: undefined, case: { id: 'a', task: 'x', resources: { memoryMb: 1_001 } } },
      400,
      'DEMAND_EXCEEDS_ENVELOPE',
      '1001',
    ],
  ])('with %s is refused, and nothing is stored', async (_title, change, status, code, part) => {
    const before = await rowCounts(api);
    const reply = await api.send('POST', '/runs', { ...wanted, ...change });
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(reply.body.detail).toContain(part);
    expect(await rowCounts(api)).toEqual(before);
  });

  test('that does not exist is a 404 on every route', async () => {
    for (const path of ['', '/attempts', '/logs']) {
      expect((await api.send('GET', `/runs/run_${'0'.repeat(26)}${path}`)).status).toBe(404);
    }
    expect((await api.send('POST', `/runs/run_${'0'.repeat(26)}/cancel`)).status).toBe(404);
  });
});

describe('cancelling a run', () => {
  test('that has no attempt settles it, and tells its workflow', async () => {
    const id = await submit();
    const { status, body } = await api.send('POST', `/runs/${id}/cancel`);
    expect([status, body.state, body.outcome]).toEqual([200, 'settled', 'cancelled']);
    expect(api.calls.at(-1)).toEqual({ verb: 'cancel', workflowId: `case:${id}` });
  });

  test('that runs leaves the outcome to its case', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    const { body } = await api.send('POST', `/runs/${id}/cancel`);
    expect([body.state, body.outcome]).toEqual(['running', null]);
  });

  test('that is settled changes nothing and tells nobody', async () => {
    const id = await submit();
    await api.database.dataSource.query(`UPDATE runs SET outcome = 'passed', settled_at = now() WHERE id = $1`, [id]);
    const calls = api.calls.length;
    const { status, body } = await api.send('POST', `/runs/${id}/cancel`);
    expect([status, body.outcome, api.calls.length]).toEqual([200, 'passed', calls]);
  });
});

describe('the attempts of a run', () => {
  test('come in their order and never with their nonce', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    await openAttempt(id, 2);
    const { body } = await api.send('GET', `/runs/${id}/attempts`);
    expect(body.items).toMatchObject([
      { attempt: 1, state: 'open', allocation: `everdict-${id}-1` },
      { attempt: 2, state: 'open' },
    ]);
    expect(JSON.stringify(body)).not.toContain('secret-nonce');
  });
});

describe('the log of a run', () => {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${api.url}${path}`, { headers });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test('before the first attempt is empty', async () => {
    const { response, bytes } = await read(`/runs/${await submit()}/logs`);
    expect([response.status, bytes.length]).toEqual([200, 0]);
  });

  test('comes byte for byte, invalid UTF-8 and NUL too', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    const written = Uint8Array.from([0, 255, 254, 10, 195]);
    await append(id, 1, 'stdout', 0, written);
    const { response, bytes } = await read(`/runs/${id}/logs?stream=stdout`);
    expect([...bytes]).toEqual([...written]);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const raw = await read(`/runs/${id}/logs`, { accept: 'application/octet-stream' });
    expect([raw.response.headers.get('content-type'), ...raw.bytes]).toEqual(['application/octet-stream', ...written]);
  });

  test('of one stream goes on where the header said', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    await append(id, 1, 'stdout', 0, 'hello ');
    await append(id, 1, 'stderr', 0, 'oops');
    const first = await read(`/runs/${id}/logs?stream=stdout`);
    const offset = first.response.headers.get('x-next-offset');
    expect([first.bytes.toString(), offset]).toEqual(['hello ', '6']);
    await append(id, 1, 'stdout', 6, 'world');
    expect((await read(`/runs/${id}/logs?stream=stdout&offset=${offset}`)).bytes.toString()).toBe('world');
    expect((await read(`/runs/${id}/logs?stream=stdout&offset=8`)).bytes.toString()).toBe('rld');
    expect((await read(`/runs/${id}/logs?stream=stdout&offset=99`)).bytes.toString()).toBe('');
    expect((await read(`/runs/${id}/logs`)).bytes.toString()).toBe('hello \noops\nworld');
  });

  test('of many chunks is complete', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    const parts = Array.from({ length: 200 }, (_, index) => `line ${index}\n`);
    let at = 0;
    for (const part of parts) {
      await append(id, 1, 'stdout', at, part);
      at += part.length;
    }
    expect((await read(`/runs/${id}/logs?stream=stdout`)).bytes.toString()).toBe(parts.join(''));
    expect((await read(`/runs/${id}/logs`)).bytes.toString()).toBe(parts.join(''));
  });

  test('puts both streams into lines of their own in text, and only there', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    await append(id, 1, 'stdout', 0, 'out 1');
    await append(id, 1, 'stderr', 0, 'err 1\n');
    await append(id, 1, 'stdout', 5, '\nout 2\n');
    expect((await read(`/runs/${id}/logs`)).bytes.toString()).toBe('out 1\nerr 1\nout 2\n');
    const alone = await read(`/runs/${id}/logs`, { accept: 'application/octet-stream' });
    expect(alone.bytes.toString()).toBe('out 1err 1\n\nout 2\n');
  });

  test('marks a cut in text, and only there', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    await append(id, 1, 'stdout', 0, 'head');
    await append(id, 1, 'stdout', 1_004, 'tail');
    expect((await read(`/runs/${id}/logs`)).bytes.toString()).toBe('head\n[1000 bytes of stdout cut]\ntail');
    expect((await read(`/runs/${id}/logs`, { accept: 'application/octet-stream' })).bytes.toString()).toBe('headtail');
  });

  test('is that of the last attempt, unless another is asked for', async () => {
    const id = await submit();
    await openAttempt(id, 1);
    await openAttempt(id, 2);
    await append(id, 1, 'stdout', 0, 'one');
    await append(id, 2, 'stdout', 0, 'two');
    expect((await read(`/runs/${id}/logs`)).bytes.toString()).toBe('two');
    expect((await read(`/runs/${id}/logs?attempt=1`)).bytes.toString()).toBe('one');
    expect((await read(`/runs/${id}/logs?attempt=3`)).response.status).toBe(404);
  });

  test.each(['stream=both', 'offset=3', 'attempt=0', 'tail=1', 'stream=stdout&offset=-1'])(
    'does not take the query %s',
    async (query) => {
      const { status } = await api.send('GET', `/runs/${await submit()}/logs?${query}`);
      expect(status).toBe(400);
    },
  );
});
