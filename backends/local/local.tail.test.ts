import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
});
