import { request as httpRequest } from 'node:http';
import type { ServerEvent } from '../../../cli/event-parser.js';
import type { LogStream } from '../../../contracts/log-events.js';
import { LogStore } from '../../../store/log.store.js';
import { EventReader } from '../../event-reader.js';
import { eventually } from '../../eventually.js';
import { countQueries } from './query-count.js';
import { type Api, registerWorld, startApi } from './server.js';

let api: Api;
let logs: LogStore;
beforeAll(async () => {
  api = await startApi();
  logs = new LogStore(api.database.dataSource);
  await registerWorld(api);
}, 60_000);
afterAll(() => api.close());

const sql = (text: string, params: unknown[] = []) => api.database.dataSource.query(text, params);

async function aRun(): Promise<string> {
  const wanted = { dataset: 'tasks', caseId: 'case-1', harness: 'echo', runtime: 'here' };
  return (await api.send('POST', '/runs', wanted)).body.id;
}

/** Opens attempt `n` of a run, as a worker would. */
const openAttempt = (id: string, n: number) =>
  sql(
    `WITH opened AS (UPDATE runs SET open_attempt = $2 WHERE id = $1)
     INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce)
     VALUES ($1, $2, 'rt:default:here', 'case:' || $1, (SELECT count(*) FROM attempts), $1 || '-' || $2, 'nonce')`,
    [id, n],
  );
const closeAttempt = (id: string) => sql('UPDATE runs SET open_attempt = NULL WHERE id = $1', [id]);
const settle = (id: string, outcome = 'passed') =>
  sql('UPDATE runs SET open_attempt = NULL, outcome = $2, settled_at = now() WHERE id = $1', [id, outcome]);
const append = (id: string, n: number, stream: LogStream, at: number, bytes: Uint8Array | string) =>
  logs.append(id, n, [{ stream, at, bytes: Buffer.from(bytes) }]);

const urlOf = (id: string, query = '') => `${api.url}/runs/${id}/logs?follow${query}`;

/** What was printed by the account of events, per attempt and stream. */
function printed(events: readonly ServerEvent[]): Record<string, Buffer> {
  const found: Record<string, Buffer> = {};
  for (const { event, data } of events) {
    if (event !== 'log') continue;
    const { attempt, stream, at, base64 } = JSON.parse(data);
    const before = found[`${attempt} ${stream}`] ?? Buffer.alloc(0);
    expect(at).toBeGreaterThanOrEqual(before.length);
    found[`${attempt} ${stream}`] = Buffer.concat([
      before,
      Buffer.alloc(at - before.length, '.'),
      Buffer.from(base64, 'base64'),
    ]);
  }
  return found;
}
const plain = (events: readonly ServerEvent[]) => events.map(({ event, id, data }) => [event, id, JSON.parse(data)]);

/** Counts what the API asks its database, until the test is over. */
function countLooks(): () => number {
  const queries = countQueries(api.database.dataSource);
  restore = queries.stop;
  return queries.count;
}
let restore = (): void => {};
afterEach(() => restore());

/** A run of two attempts with every kind of event: any bytes, a large chunk, a cut, another attempt, an end. */
async function aFullLog(): Promise<string> {
  const id = await aRun();
  await openAttempt(id, 1);
  await append(id, 1, 'stdout', 0, Uint8Array.from([0, 255, 254, 10, 195]));
  await append(id, 1, 'stderr', 0, 'warning\n');
  await append(id, 1, 'stdout', 5, Buffer.alloc(130_000, 'x'));
  await append(id, 1, 'stdout', 200_000, 'tail');
  await closeAttempt(id);
  await openAttempt(id, 2);
  await append(id, 2, 'stdout', 0, 'again');
  await append(id, 2, 'stderr', 0, 'worse');
  await settle(id, 'failed');
  return id;
}

describe('a followed log', () => {
  test('has what is kept with its offsets, marks a cut, goes on to the next attempt, and ends with the outcome', async () => {
    const id = await aFullLog();
    const reader = await EventReader.open(urlOf(id, '&attempt=1'));
    expect(await reader.ended).toBe('clean');
    const { headers } = reader.response;
    expect([headers.get('content-type'), headers.get('connection')]).toEqual(['text/event-stream', 'close']);
    const found = plain(reader.events);
    expect(found.map(([event, position]) => `${event} ${position}`)).toEqual([
      'log 1.5.0',
      'log 1.5.8',
      'log 1.49157.8',
      'log 1.98309.8',
      'log 1.130005.8',
      'cut 1.200000.8',
      'log 1.200004.8',
      'attempt 2.0.0',
      'log 2.5.0',
      'log 2.5.5',
      'end 2.5.5',
    ]);
    expect(found[0]?.[2]).toEqual({ attempt: 1, stream: 'stdout', at: 0, base64: 'AP/+CsM=' });
    expect(found[5]?.[2]).toEqual({ attempt: 1, stream: 'stdout', at: 130_005, bytes: 69_995 });
    expect(found[7]?.[2]).toEqual({ attempt: 2 });
    expect(found.at(-1)?.[2]).toEqual({ outcome: 'failed' });
  });

  test('goes on after whichever event came last: nothing is missing and nothing comes twice', async () => {
    const id = await aFullLog();
    const whole = await EventReader.all(urlOf(id, '&attempt=1'));
    for (const [index, { id: last }] of whole.entries()) {
      const rest = await EventReader.all(urlOf(id, '&attempt=1'), { 'last-event-id': last });
      expect(rest).toEqual(index === whole.length - 1 ? whole.slice(-1) : whole.slice(index + 1));
      expect(await EventReader.all(urlOf(id, `&from=${last}`))).toEqual(rest);
    }
  });

  test('begins with the last attempt, and can be of one stream', async () => {
    const id = await aFullLog();
    expect(Object.keys(printed(await EventReader.all(urlOf(id))))).toEqual(['2 stdout', '2 stderr']);
    expect(Object.keys(printed(await EventReader.all(urlOf(id, '&stream=stderr&attempt=1'))))).toEqual([
      '1 stderr',
      '2 stderr',
    ]);
  });

  test('waits for the first attempt, and shows within a second what is stored', async () => {
    const id = await aRun();
    const reader = await EventReader.open(urlOf(id));
    await openAttempt(id, 1);
    await reader.until(({ event }) => event === 'attempt');
    for (const [at, letter] of [...'abc'].entries()) {
      await append(id, 1, 'stdout', at, letter);
      const stored = performance.now();
      await reader.until(({ event, data }) => event === 'log' && JSON.parse(data).at === at);
      expect(performance.now() - stored).toBeLessThan(1_000);
    }
    await settle(id);
    await reader.ended;
    expect(printed(reader.events)['1 stdout']?.toString()).toBe('abc');
    expect(reader.events.at(-1)?.event).toBe('end');
  });

  test('waits for a gap to be filled while the attempt is open, and the other stream goes on', async () => {
    const id = await aRun();
    await openAttempt(id, 1);
    await append(id, 1, 'stdout', 0, 'aa');
    await append(id, 1, 'stdout', 4, 'cc');
    const reader = await EventReader.open(urlOf(id));
    await append(id, 1, 'stderr', 0, 'meanwhile');
    await reader.until(({ id: position }) => position === '1.2.9');
    await append(id, 1, 'stdout', 2, 'bb');
    await settle(id);
    await reader.ended;
    expect(reader.events.map(({ event }) => event)).not.toContain('cut');
    expect(printed(reader.events)['1 stdout']?.toString()).toBe('aabbcc');
  });

  test('is whole where followers cut the output differently, from any offset', async () => {
    const id = await aRun();
    await openAttempt(id, 1);
    const text = Array.from({ length: 60 }, (_, index) => String.fromCharCode(65 + (index % 26))).join('');
    await append(id, 1, 'stdout', 0, text.slice(0, 50));
    for (let at = 1; at < 30; at += 1) await append(id, 1, 'stdout', at, text.slice(at, at + 2));
    await append(id, 1, 'stdout', 50, text.slice(50));
    await settle(id);
    for (let from = 0; from <= text.length; from += 1) {
      const events = await EventReader.all(urlOf(id, `&from=1.${from}.0`));
      expect(printed(events)['1 stdout']?.subarray(from).toString() ?? '').toBe(text.slice(from));
      expect(events.map(({ event }) => event)).not.toContain('cut');
    }
  });

  test('is the same for a hundred readers, who take no more looks than one', async () => {
    const id = await aRun();
    await openAttempt(id, 1);
    const readers = await Promise.all(Array.from({ length: 100 }, () => EventReader.open(urlOf(id))));
    await append(id, 1, 'stdout', 0, 'first');
    await Promise.all(readers.map((reader) => reader.until(({ event }) => event === 'log')));
    const looks = countLooks();
    for (let at = 5; at < 25; at += 1) {
      await append(id, 1, 'stdout', at, 'x');
      await Promise.all(readers.map((reader) => reader.until((event) => event.id === `1.${at + 1}.0`)));
    }
    // Two queries a look, for each byte one look that finds it, and a few that find nothing.
    expect(looks()).toBeLessThan(20 * 2 * 10);
    await settle(id);
    await Promise.all(readers.map(({ ended }) => ended));
    const [one, ...others] = readers.map(({ events }) => JSON.stringify(events));
    expect(new Set(others)).toEqual(new Set([one]));
  });

  test('is read from the database no faster than a slow reader takes it', async () => {
    const id = await aRun();
    await openAttempt(id, 1);
    const CHUNK = 256 * 1_024;
    for (let n = 0; n < 40; n += 1) await append(id, 1, 'stdout', n * CHUNK, Buffer.alloc(CHUNK, 'x'));
    await settle(id);
    const looks = countLooks();
    const [slow, response] = await new Promise<[ReturnType<typeof httpRequest>, NodeJS.ReadableStream]>((resolve) => {
      const asked = httpRequest(urlOf(id), (answer) => resolve([asked, answer.pause()]));
      asked.end();
    });
    let seen = -1;
    await eventually('the server waits for the reader', async () => {
      const now = looks();
      const isSteady = now > 0 && now === seen;
      seen = now;
      return isSteady;
    });
    expect(looks()).toBeLessThan(2 * 30);
    let bytes = 0;
    for await (const piece of response) bytes += piece.length;
    expect(bytes).toBeGreaterThan(40 * CHUNK);
    slow.destroy();
  });

  test('costs nothing once its reader is gone', async () => {
    const id = await aRun();
    await openAttempt(id, 1);
    const readers = await Promise.all(Array.from({ length: 20 }, () => EventReader.open(urlOf(id))));
    for (const reader of readers) reader.drop();
    const looks = countLooks();
    await eventually('nobody looks any more', async () => {
      const before = looks();
      await new Promise((resolve) => setTimeout(resolve, 600));
      return looks() === before;
    });
  });

  test('ends cleanly, and without `end`, when the API stops', async () => {
    const other = await startApi();
    await registerWorld(other);
    const { body } = await other.send('POST', '/runs', {
      dataset: 'tasks',
      caseId: 'case-1',
      harness: 'echo',
      runtime: 'here',
    });
    const reader = await EventReader.open(`${other.url}/runs/${body.id}/logs?follow`);
    const stopping = performance.now();
    await other.close();
    expect(await reader.ended).toBe('clean');
    expect(reader.events).toEqual([]);
    expect(performance.now() - stopping).toBeLessThan(5_000);
  });

  test('is for pages of this server only', async () => {
    const id = await aRun();
    const { status } = await api.send('GET', `/runs/${id}/logs?follow`, undefined, { origin: 'http://evil.example' });
    expect(status).toBe(403);
  });

  test.each([
    ['&from=1', 400],
    ['&from=1.x.0', 400],
    ['&from=1.0.0&attempt=1', 400],
    ['&offset=3&stream=stdout', 400],
    ['&from=7.0.0', 404],
    ['&attempt=7', 404],
  ])('is not answered with the query %s', async (query, status) => {
    expect((await api.send('GET', `/runs/${await aRun()}/logs?follow${query}`)).status).toBe(status);
  });

  test('is not answered from an id that is none', async () => {
    const { status, body } = await api.send('GET', `/runs/${await aRun()}/logs?follow`, undefined, {
      'last-event-id': 'x',
    });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('Last-Event-ID')]);
  });
});
