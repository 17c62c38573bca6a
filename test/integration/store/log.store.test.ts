import type { LogStream } from '../../../contracts/log-events.js';
import { LocalHostStore } from '../../../store/local-host.store.js';
import type { LogChunk } from '../../../store/log.store.js';
import type { LogOffsets } from '../../../store/log-page.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, type World } from './world.js';

let db: TestDatabase;
let world: World;
let run: string;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await aWorld(db.dataSource);
});
beforeEach(async () => {
  run = `${await world.submit(1)}.0`;
  await world.attempts.open(world.opening(run));
});
afterAll(() => db.drop());

const chunk = (at: number, text: string, stream: LogStream = 'stdout'): LogChunk => ({
  stream,
  at,
  bytes: Buffer.from(text),
});
const START = { stdout: 0, stderr: 0 };
const read = async (from: LogOffsets = START) =>
  (await world.logs.page(run, 1, from, true)).map(({ at, bytes }) => [at, Buffer.from(bytes).toString()]);

describe('a log', () => {
  test('keeps arbitrary bytes', async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, i) => i % 256);
    await world.logs.append(run, 1, [{ stream: 'stderr', at: 100, bytes: bytes.subarray(100) }]);

    const [stored] = await world.logs.page(run, 1, { stderr: 100 }, true);
    expect(Buffer.compare(Buffer.from(stored?.bytes ?? []), bytes.subarray(100))).toBe(0);
  });

  test('says where following goes on, per stream', async () => {
    expect(await world.logs.kept(run, 1)).toEqual({ stdout: 0, stderr: 0 });
    await world.logs.append(run, 1, [chunk(0, 'abc'), chunk(3, 'de'), chunk(0, 'x', 'stderr')]);
    await world.logs.append(run, 1, [chunk(100, 'tail')]);

    expect(await world.logs.kept(run, 1)).toEqual({ stdout: 104, stderr: 1 });
  });

  test('takes the same chunk twice and two cuts of the same output as one', async () => {
    await world.logs.append(run, 1, [chunk(0, 'abcd'), chunk(4, 'efgh')]);
    await world.logs.append(run, 1, [chunk(0, 'abcd'), chunk(2, 'cdef'), chunk(6, 'ghij')]);

    const text = (await read({ stdout: 0 })).map(([, part]) => part).join('');
    expect(text).toBe('abcdefghij');
  });

  test('keeps the longer of two chunks that begin alike, whichever comes first', async () => {
    await world.logs.append(run, 1, [chunk(0, 'ab'), chunk(0, 'long', 'stderr')]);
    await world.logs.append(run, 1, [chunk(0, 'abcd'), chunk(0, 'lo', 'stderr')]);
    await world.logs.append(run, 1, [chunk(4, 'ef')]);

    expect(await read({ stdout: 0 })).toEqual([
      [0, 'abcd'],
      [4, 'ef'],
    ]);
    expect(await read({ stdout: 2 })).toEqual([
      [2, 'cd'],
      [4, 'ef'],
    ]);
    expect(await read({ stderr: 0 })).toEqual([[0, 'long']]);
  });

  test('is read from an offset', async () => {
    await world.logs.append(run, 1, [chunk(0, 'aaa'), chunk(3, 'bbb'), chunk(6, 'ccc')]);

    expect(await read({ stdout: 4 })).toEqual([
      [4, 'bb'],
      [6, 'ccc'],
    ]);
    expect(await read({ stderr: 0 })).toEqual([]);
  });

  test('of both streams comes in the order it was kept', async () => {
    await world.logs.append(run, 1, [chunk(0, 'one')]);
    await world.logs.append(run, 1, [chunk(0, 'two', 'stderr')]);
    await world.logs.append(run, 1, [chunk(3, 'three')]);

    expect((await read()).map(([, text]) => text)).toEqual(['one', 'two', 'three']);
  });
});

describe('the local host', () => {
  test('is one, until another takes over', async () => {
    const hosts = new LocalHostStore(db.dataSource);
    const claims = await Promise.all(['a', 'a', 'a'].map((host) => hosts.claim(host)));

    expect(claims).toEqual(Array(3).fill({ kind: 'claimed' }));
    expect(await hosts.claim('b')).toEqual({ kind: 'taken', hostId: 'a' });
    expect(await hosts.claim('b', true)).toEqual({ kind: 'claimed' });
    expect(await hosts.claim('a')).toEqual({ kind: 'taken', hostId: 'b' });
  });

  test('is one of two that start at once', async () => {
    await db.dataSource.query('DELETE FROM local_host');
    const hosts = new LocalHostStore(db.dataSource);
    const claims = await Promise.all(Array.from({ length: 20 }, (_, i) => hosts.claim(`host-${i}`)));

    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  });
});
