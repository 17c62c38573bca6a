import fc from 'fast-check';
import { type Line, linesOf } from './json-lines.js';

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function read(text: string, size: number, kept = 1_000): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of linesOf(inChunks(text, size), kept)) lines.push(line);
  return lines;
}

describe('linesOf', () => {
  test('gives every line that is not empty, with its number, however the bytes are cut', async () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'ü', '🔑', '\r'), maxLength: 6 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), async (written, size) => {
        const lines = await read(written.join('\n'), size);
        const want = written.flatMap((text, index) => (text ? [[index + 1, text]] : []));
        expect(lines.map(({ number, content }) => [number, content.toString()])).toEqual(want);
      }),
    );
  });

  test('holds only the beginning of a line that is too long, and knows its size', async () => {
    const [long, next] = await read(`${'x'.repeat(5_000)}\nshort`, 100, 1_000);
    expect([long?.bytes, long?.content.length]).toEqual([5_000, 1_000]);
    expect([next?.number, next?.content.toString()]).toEqual([2, 'short']);
  });
});
