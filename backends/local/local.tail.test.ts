import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileTail } from './local.tail.js';

describe('FileTail', () => {
  const dir = mkdtempSync(join(tmpdir(), 'everdict-tail-'));
  const path = join(dir, 'stdout');
  let tail: FileTail;

  beforeEach(() => writeFileSync(path, ''));
  afterEach(() => tail.close());
  afterAll(() => rmSync(dir, { recursive: true }));

  const readAll = async (): Promise<string[]> => {
    const pieces: string[] = [];
    for (let piece = await tail.next(); piece; piece = await tail.next())
      pieces.push(`${piece.at}:${Buffer.from(piece.bytes)}`);
    return pieces;
  };

  test('reads on from an offset, and what is appended later', async () => {
    writeFileSync(path, 'before after');
    tail = new FileTail(path, 7);

    expect(await readAll()).toEqual(['7:after']);
    appendFileSync(path, ' more');
    expect(await readAll()).toEqual(['12: more']);
  });

  test('reads a large file in pieces of one buffer', async () => {
    writeFileSync(path, Buffer.alloc(1_000_000, 'x'));
    tail = new FileTail(path, 0);
    const buffers = new Set<ArrayBufferLike>();
    let length = 0;
    for (let piece = await tail.next(); piece; piece = await tail.next()) {
      buffers.add(piece.bytes.buffer);
      length += piece.bytes.length;
    }

    expect(length).toBe(1_000_000);
    expect(buffers.size).toBe(1);
  });

  test('goes on with growing offsets after the job emptied the file', async () => {
    writeFileSync(path, 'one two');
    tail = new FileTail(path, 0);
    await readAll();
    writeFileSync(path, 'new');

    expect(await readAll()).toEqual(['7:new']);
  });

  test('leaves out what is not kept where the job is far ahead, and never the end', async () => {
    const size = 100_000_000;
    truncateSync(path, size);
    tail = new FileTail(path, 0, { head: 1_000_000, tail: 500_000 });
    let read = 0;
    let endedAt = 0;
    const gaps: [number, number][] = [];
    for (let piece = await tail.next(); piece; piece = await tail.next()) {
      if (piece.at !== endedAt) gaps.push([endedAt, piece.at]);
      endedAt = piece.at + piece.bytes.length;
      read += piece.bytes.length;
    }

    expect(endedAt).toBe(size);
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.[0]).toBeGreaterThanOrEqual(1_000_000);
    expect(size - (gaps[0]?.[1] ?? size)).toBe(16 * 1_024 * 1_024);
    expect(read).toBeLessThan(20_000_000);
  });

  test('gives back what was read, but neither the beginning nor what the end may need', async () => {
    truncateSync(path, 100_000_000);
    tail = new FileTail(path, 0, { head: 1_000_000, tail: 500_000 });
    expect(tail.takeHole()).toBeUndefined();
    for (let piece = await tail.next(); piece; piece = await tail.next());

    expect(tail.takeHole()).toEqual({ from: 1_000_000, to: 100_000_000 - 16 * 1_024 * 1_024 });
    expect(tail.takeHole()).toBeUndefined();
  });
});
