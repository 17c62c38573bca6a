import type { IncomingMessage } from 'node:http';
import { cases, idsIn, type Lines, line, uploadTo } from '../../dataset-upload.js';
import { eventually } from '../../eventually.js';
import { type Api, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi({ env: { EVERDICT_UPLOAD_MB: '32' } });
}, 60_000);
afterAll(() => api.close());

const MB = 1024 * 1024;
const upload = (id: string, lines: Lines, signal?: AbortSignal) => uploadTo(api.url, id, lines, signal);

const statusesOf = (replies: { status: number }[]) =>
  replies.map(({ status }) => status).sort((one, other) => one - other);

/** A gate that lines wait at. */
function aGate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

async function* halted(gate: { opened: Promise<void> }, sent: () => void = () => {}): AsyncGenerator<string> {
  yield* cases(500);
  sent();
  await gate.opened;
  yield line('last');
}

const openTransactions = async (): Promise<number> => {
  const sql = `SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
  return (await api.database.dataSource.query(sql))[0].count;
};

/** Tells what the server has read of the next request that comes. */
function bytesTaken(): () => number {
  let read = (): number => 0;
  api.app.getHttpServer().once('request', ({ socket }: IncomingMessage) => {
    const before = socket.bytesRead;
    read = () => socket.bytesRead - before;
  });
  return () => read();
}

describe('a streamed dataset', () => {
  test('comes back as it was sent', async () => {
    const { status, body } = await upload('whole', cases(1_000));
    expect([status, body.caseCount]).toEqual([201, 1_000]);
    const back = await fetch(`${api.url}/datasets/whole/versions/1/cases.jsonl`);
    expect(back.headers.get('content-type')).toContain('application/x-ndjson');
    expect(idsIn(await back.text())).toEqual(Array.from({ length: 1_000 }, (_, at) => `case-${at}`));
  });

  test('is seen once it is complete', async () => {
    const [gate, sent] = [aGate(), aGate()];
    const reply = upload('unseen', halted(gate, sent.open));
    await sent.opened;
    await eventually('cases are being stored', async () => (await openTransactions()) > 0);
    expect((await api.send('GET', '/datasets/unseen/versions/1')).status).toBe(404);
    gate.open();
    expect((await reply).body.caseCount).toBe(501);
    expect((await api.send('GET', '/datasets/unseen/versions/1')).status).toBe(200);
  });

  test('that its client breaks off leaves nothing, and is no failure of the platform', async () => {
    const before = await rowCounts(api);
    const [aborted, sent] = [new AbortController(), aGate()];
    const reply = upload('broken', halted(aGate(), sent.open), aborted.signal);
    await sent.opened;
    await eventually('cases are being stored', async () => (await openTransactions()) > 0);
    aborted.abort();
    await expect(reply).rejects.toThrow();
    await eventually('its transaction is over', async () => (await openTransactions()) === 0);
    expect(await rowCounts(api)).toEqual(before);
    expect(api.logLines.filter((text) => text.includes('request failed'))).toEqual([]);
  });

  test.each([
    ['an id of an earlier page', [...cases(250), '\n', line('case-7')], 'line 252: id', 'line 8'],
    ['a bad line 1,999', [...cases(1_998), '{"id": }\n', line('z')], 'line 1999', 'line 1999, column 8'],
    [
      'a case above 1 MB',
      [line('a'), line('big', 'x'.repeat(MB))],
      'line 2',
      `"big" has ${MB + 22} bytes; the limit of a case is ${MB}`,
    ],
    ['a line that is far too long', [line('a'), line('huge', 'x'.repeat(5 * MB))], 'line 2', `${5 * MB + 23} bytes`],
  ])('with %s is refused naming the place, and leaves nothing', async (_title, lines, path, part) => {
    const before = await rowCounts(api);
    const { status, body } = await upload('faulty', lines);
    expect([status, body.errors[0].path]).toEqual([400, path]);
    expect(body.errors[0].message).toContain(part);
    expect(await rowCounts(api)).toEqual(before);
  });

  test('above the limit is refused with both numbers, at once where the client says its size', async () => {
    const before = await rowCounts(api);
    const announced = await api.send('POST', '/datasets?id=large&version=1', 'x'.repeat(32 * MB + 1), {
      'content-type': 'application/x-ndjson',
    });
    expect([announced.status, announced.body.detail]).toEqual([
      413,
      `the upload has ${32 * MB + 1} bytes; the limit is ${32 * MB}`,
    ]);
    const chunked = await upload('large', cases(400, 'x'.repeat(100_000)));
    expect([chunked.status, chunked.body.code]).toEqual([413, 'BODY_TOO_LARGE']);
    expect(chunked.body.detail).toMatch(/more than 33554432 bytes.*: 33\d{6} came up to line 33\d, case "case-33\d"/);
    expect(await rowCounts(api)).toEqual(before);
  });

  test('that several clients send at once is stored once, and other content is refused', async () => {
    const same = await Promise.all(Array.from({ length: 6 }, () => upload('same', cases(300))));
    expect(statusesOf(same)).toEqual([200, 200, 200, 200, 200, 201]);
    const others = await Promise.all(['a', 'b', 'c'].map((task) => upload('other', cases(300, task))));
    expect(statusesOf(others)).toEqual([201, 409, 409]);
    const count = `SELECT count(*)::int AS count FROM dataset_cases WHERE dataset_pk NOT IN (SELECT pk FROM datasets)`;
    expect(await api.database.dataSource.query(count)).toEqual([{ count: 0 }]);
  });

  test('waits at its client while the database is busy', async () => {
    const lock = api.database.dataSource.createQueryRunner();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE dataset_cases IN EXCLUSIVE MODE');
    const taken = bytesTaken();
    const reply = upload('waits', cases(300, 'x'.repeat(100_000)));
    await eventually('the upload waits', async () => {
      const sql = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await lock.query(sql))[0].count > 0;
    });
    // All of it would be 30; how much of that waits in sockets is up to the kernel.
    const held = taken();
    await lock.query('COMMIT');
    await lock.release();
    expect((await reply).status).toBe(201);
    expect(held).toBeLessThan(20 * MB);
  });
});

test('a page of large cases ends early, and the next one goes on', async () => {
  await upload('paged', cases(10, 'x'.repeat(1_000_000)));
  const sizes: number[] = [];
  for (let next = ''; ; ) {
    const { body } = await api.send('GET', `/datasets/paged/versions/1/cases?limit=500${next && `&cursor=${next}`}`);
    sizes.push(body.items.length);
    if (body.next === null) break;
    next = body.next;
  }
  expect(sizes.reduce((sum, size) => sum + size)).toBe(10);
  expect(Math.max(...sizes)).toBeLessThan(5);
});
