import { AuditStore } from '../../../store/audit.store.js';
import { idAt } from '../../../store/ids.js';
import { aHarness } from '../../builders.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  const key = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
  api = await startApi({ env: { EVERDICT_SECRETS_KEY: key, EVERDICT_AUTH: 'off' } });
  await registerWorld(api);
}, 60_000);
afterAll(() => api.close());

const WHO = { subject: 'local', role: 'admin', keyId: null, source: '127.0.0.1' };

/** The rows of one request. */
async function rowsOf(requestId: string) {
  const { body } = await api.send('GET', '/audit?limit=500');
  return body.items.filter((item: { requestId: string }) => item.requestId === requestId);
}

describe('a request that writes', () => {
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  const spec = aHarness({ id: 'audited', version: '1' });
  const submit = { dataset: 'tasks', harness: 'echo', runtime: 'here' };

  test.each<[string, string, string, unknown, object]>([
    [
      'a registration',
      'POST',
      '/harnesses',
      spec,
      { action: 'harnesses.register', kind: 'harness', object: 'audited@1', status: 201, before: null, after: hash },
    ],
    ['the same again', 'POST', '/harnesses', spec, { object: 'audited@1', status: 200, before: hash, after: hash }],
    [
      'other content under that version',
      'POST',
      '/harnesses',
      { ...spec, description: 'other' },
      { object: 'audited@1', status: 409, code: 'CONFLICT', before: hash, after: hash },
    ],
    [
      'a body that is not valid',
      'POST',
      '/runtimes',
      { kind: 'local', id: 'odd', version: '1', nope: 1 },
      { action: 'runtimes.register', object: 'odd@1', status: 400, code: 'BAD_REQUEST' },
    ],
    ['a body that is no JSON', 'POST', '/runtimes', '{', { object: null, status: 400, code: 'BAD_REQUEST' }],
    ['a body that is too large', 'POST', '/runs', 'x'.repeat(10_485_761), { status: 413, code: 'BODY_TOO_LARGE' }],
    [
      'a submit',
      'POST',
      '/scorecards',
      submit,
      {
        action: 'scorecards.submit',
        kind: 'scorecard',
        object: expect.stringMatching(/^sc_/),
        status: 202,
        after: hash,
      },
    ],
    ['a submit of a run', 'POST', '/runs', { ...submit, caseId: 'case-1' }, { object: expect.stringMatching(/^run_/) }],
    [
      'what is not there',
      'POST',
      '/scorecards/sc_00000000000000000000000000/cases/a%2Fb%00/settle',
      { outcome: 'passed', reason: 'x' },
      { action: 'scorecards.settle', object: 'sc_00000000000000000000000000/a/b?', status: 404, code: 'NOT_FOUND' },
    ],
  ])('leaves one row: %s', async (title, method, path, body, expected) => {
    const requestId = title.replaceAll(' ', '-');
    await api.send(method, path, body, { 'x-request-id': requestId });
    expect(await rowsOf(requestId)).toMatchObject([{ ...WHO, requestId, ...expected }]);
  });

  test('a repeat by its Idempotency-Key is told with what the first one made', async () => {
    for (const id of ['idem-1', 'idem-2']) {
      await api.send('POST', '/scorecards', submit, { 'x-request-id': id, 'idempotency-key': 'again' });
    }
    const [[first], [second]] = [await rowsOf('idem-1'), await rowsOf('idem-2')];
    expect(second).toMatchObject({ object: first.object, status: 202 });
  });

  test('and a request that only reads leaves none', async () => {
    await api.send('GET', '/runtimes', undefined, { 'x-request-id': 'reads' });
    expect(await rowsOf('reads')).toEqual([]);
  });

  test('every route that is no GET leaves a row', async () => {
    const { paths } = (await api.send('GET', '/openapi.json')).body;
    const sent: string[] = [];
    for (const [path, methods] of Object.entries<Record<string, unknown>>(paths)) {
      for (const method of Object.keys(methods).filter((name) => name !== 'get')) {
        const requestId = `covers-${sent.length}`;
        const { status } = await api.send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'zz'), '[0]', {
          'x-request-id': requestId,
        });
        expect([method, path, status]).toEqual([method, path, expect.any(Number)]);
        sent.push(`${method} ${path} ${(await rowsOf(requestId)).length}`);
      }
    }
    // A call of a tool leaves the row of its route.
    expect(sent.filter((line) => !line.endsWith(' 1'))).toEqual(['post /mcp 0']);
    const actions = (await api.send('GET', '/audit?limit=500')).body.items.map(
      ({ action }: { action: string }) => action,
    );
    expect(actions.filter((action: string) => !/^[a-z-]+\.\w+$/.test(action))).toEqual([]);
  });

  test('holds nothing of a body', async () => {
    const secret = 'hunter2-hunter2';
    await api.send('POST', '/harnesses', { ...spec, version: '3', description: secret });
    await api.send('POST', '/harnesses', { ...spec, version: '4', [secret]: secret });
    const [{ text }] = await api.database.dataSource.query(
      `SELECT string_agg(audit_events::text, ' ') AS text FROM audit_events`,
    );
    expect(text).toContain('audited@3');
    expect(text).not.toContain(secret);
  });
});

describe('what has no versions is told by hashes of what it may', () => {
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  let sent = 0;
  const rowOf = async (method: string, path: string, body?: unknown) => {
    sent += 1;
    const requestId = `hashed-${sent}`;
    const { body: reply } = await api.send(method, path, body, { 'x-request-id': requestId });
    return { row: (await rowsOf(requestId))[0], reply };
  };

  test('a key, from its making to its end', async () => {
    const key = { name: 'ci', role: 'member', scope: 'write' };
    const { row: made, reply } = await rowOf('POST', '/keys', key);
    expect(made).toMatchObject({ action: 'keys.create', object: reply.id, status: 201, before: null, after: hash });
    const { row: revoked } = await rowOf('DELETE', `/keys/${reply.id}`);
    expect(revoked).toMatchObject({ kind: 'key', object: reply.id, before: made.after, after: null });
  });

  test('a member, whose role changes', async () => {
    const path = `/members/${encodeURIComponent('ada@example.org')}`;
    const { row: invited } = await rowOf('POST', '/members', { subject: 'ada@example.org', role: 'viewer' });
    const { row: changed } = await rowOf('PATCH', path, { role: 'member' });
    expect(invited).toMatchObject({ kind: 'member', object: 'ada@example.org', before: null, after: hash });
    expect(changed).toMatchObject({ object: 'ada@example.org', before: invited.after, after: hash });
    expect(changed.after).not.toBe(changed.before);
  });

  test('a secret, whose origins change, and never its value', async () => {
    const secret = (origin: string) => ({ use: 'cluster', value: 'the-same-value', origins: [origin] });
    const { row: set } = await rowOf('PUT', '/secrets/nomad', secret('https://a.example'));
    const { row: again } = await rowOf('PUT', '/secrets/nomad', secret('https://b.example'));
    const { row: gone } = await rowOf('DELETE', '/secrets/nomad');
    expect(set).toMatchObject({ action: 'secrets.put', object: 'nomad', status: 201, before: null, after: hash });
    expect(again).toMatchObject({ status: 200, before: set.after, after: hash });
    expect(again.after).not.toBe(set.after);
    expect(gone).toMatchObject({ status: 204, before: again.after, after: null });
  });

  test('what is said of a version', async () => {
    const path = '/harnesses/echo/versions/1.0.0';
    const { row: one } = await rowOf('PUT', `${path}/tags`, { tags: ['one'] });
    const { row: two } = await rowOf('PUT', `${path}/tags`, { tags: ['two'] });
    const { row: again } = await rowOf('PUT', `${path}/tags`, { tags: ['one'] });
    expect(one).toMatchObject({ action: 'harnesses.setTags', object: 'echo@1.0.0', status: 200, after: hash });
    expect([two.after === one.after, again.after]).toEqual([false, one.after]);
  });

  test('a probe, of exactly that spec', async () => {
    const spec = { kind: 'local', id: 'probed', version: '1' };
    const { row: first } = await rowOf('POST', '/runtimes/probe', spec);
    const { row: other } = await rowOf('POST', '/runtimes/probe', { ...spec, maxConcurrent: 2 });
    expect(first).toMatchObject({ object: 'probed@1', before: null, after: hash });
    expect(other.after).not.toBe(first.after);
  });
});

test('a write whose transaction is undone leaves the row of its refusal only', async () => {
  await api.send('POST', '/runtimes', { kind: 'local', id: 'fixed', version: '1' });
  const nomad = { kind: 'nomad', id: 'fixed', version: '2', addr: 'http://nomad.example:4646', image: 'x' };
  const { status } = await api.send('POST', '/runtimes', nomad, { 'x-request-id': 'undone' });
  expect(status).toBe(409);
  expect((await rowsOf('undone')).map((row: { status: number }) => row.status)).toEqual([409]);
});

test('rows can be neither changed nor emptied, and are deleted once they are old', async () => {
  const { dataSource } = api.database;
  await expect(dataSource.query(`UPDATE audit_events SET subject = 'nobody'`)).rejects.toThrow('never changed');
  await expect(dataSource.query('TRUNCATE audit_events')).rejects.toThrow('never changed');
  const [{ count }] = await dataSource.query('SELECT count(*)::int AS count FROM audit_events');
  const store = new AuditStore(dataSource);
  const day = 86_400_000;
  expect(await store.purge(30, Date.now() + 29 * day)).toBe(0);
  expect(await store.purge(30, Date.now() + 31 * day)).toBe(count);
});

describe('GET /audit', () => {
  const event = (n: number) => ({
    id: `${idAt('aud', Date.UTC(2026, 0, 1 + n)).slice(0, -2)}${10 + n}`,
    at: new Date(Date.UTC(2026, 0, 1 + n)).toISOString(),
    workspace: n === 9 ? 'other' : 'default',
    ...{ subject: n % 2 ? 'odd' : 'even', role: 'member' as const, keyId: 'key_1', source: '::1', requestId: `r${n}` },
    ...{ action: n < 5 ? 'runtimes.register' : 'secrets.put', kind: 'x', object: n < 5 ? `gpu@1.${n}` : 'token' },
    ...{ status: 200, code: null, before: null, after: null },
  });
  beforeAll(async () => {
    await api.database.dataSource.query('DELETE FROM audit_events');
    const store = new AuditStore(api.database.dataSource);
    await Promise.all(Array.from({ length: 10 }, (_, n) => store.record(event(n))));
  });

  test.each([
    ['', [8, 7, 6, 5, 4, 3, 2, 1, 0]],
    ['subject=odd', [7, 5, 3, 1]],
    ['action=runtimes', [4, 3, 2, 1, 0]],
    ['action=secrets.put&subject=even', [8, 6]],
    ['object=gpu', [4, 3, 2, 1, 0]],
    ['object=gpu@1.2', [2]],
    ['since=2026-01-04T00:00:00Z&until=2026-01-06T00:00:00Z', [4, 3]],
    ['object=gp', []],
  ])('with %s tells of its own workspace, newest first', async (query, expected) => {
    const { body } = await api.send('GET', `/audit?${query.replace(/:/g, '%3A')}`);
    expect(body.items.map(({ requestId }: { requestId: string }) => requestId)).toEqual(expected.map((n) => `r${n}`));
  });

  test('comes in pages that miss nothing and repeat nothing', async () => {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await api.send('GET', `/audit?limit=4${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map(({ requestId }: { requestId: string }) => requestId));
      if (body.next === null) break;
      cursor = body.next;
    }
    expect(seen).toEqual(['r8', 'r7', 'r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
  });

  test.each(['since=yesterday', 'nope=1', 'limit=0', 'cursor=x'])('refuses %s naming it', async (query) => {
    const { status, body } = await api.send('GET', `/audit?${query}`);
    expect([status, body.errors[0].path]).toEqual([400, query.split('=')[0]]);
  });
});
