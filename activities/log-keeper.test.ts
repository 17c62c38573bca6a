import fc from 'fast-check';
import { SecretMask } from '../policy/redact.js';
import type { LogChunk } from '../store/log.store.js';
import { LogKeeper } from './log-keeper.js';

const RUN = { runId: 'run_1', attempt: 1, mask: new SecretMask([]) };

/** Keeps what was appended, in order. */
class Shelf {
  readonly chunks: LogChunk[] = [];
  appends = 0;
  error: Error | undefined;

  async append(_runId: string, _attempt: number, chunks: readonly LogChunk[]): Promise<void> {
    if (this.error) throw this.error;
    this.appends++;
    this.chunks.push(...chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes) })));
  }

  async replace(
    runId: string,
    attempt: number,
    stream: LogChunk['stream'],
    chunks: readonly LogChunk[],
  ): Promise<void> {
    this.chunks.splice(0, this.chunks.length, ...this.chunks.filter((one) => one.stream !== stream));
    await this.append(runId, attempt, chunks);
  }

  /** Bytes of a stream by offset; `.` where nothing is kept. */
  text(stream: LogChunk['stream'], length: number): string {
    const text = Buffer.alloc(length, '.');
    for (const chunk of this.chunks.filter((one) => one.stream === stream)) text.set(chunk.bytes, chunk.at);
    return text.toString('latin1');
  }
}

describe('LogKeeper', () => {
  test('stores both streams of a short job in one statement', async () => {
    const shelf = new Shelf();
    const keeper = new LogKeeper({ logs: shelf, ...RUN, limitBytes: 1_000 });
    await keeper.take('stdout', 0, Buffer.from('one '));
    await keeper.take('stderr', 0, Buffer.from('warning'));
    await keeper.take('stdout', 4, Buffer.from('two'));
    await keeper.end();

    expect(shelf.appends).toBe(1);
    expect(shelf.chunks).toEqual([
      { stream: 'stdout', at: 0, bytes: Buffer.from('one two') },
      { stream: 'stderr', at: 0, bytes: Buffer.from('warning') },
    ]);
  });

  test('keeps head and tail exactly, and cuts only what lies between', async () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 10, max: 200 }), async (written, limitBytes) => {
        const shelf = new Shelf();
        const keeper = new LogKeeper({ logs: shelf, ...RUN, limitBytes });
        let at = 0;
        for (const piece of written) {
          await keeper.take('stdout', at, Buffer.from(piece));
          at += piece.length;
        }
        await keeper.end();

        const all = written.join('');
        const head = Math.floor(limitBytes * 0.8);
        const tailAt = Math.max(head, all.length - (limitBytes - head));
        const cut = '.'.repeat(Math.max(0, tailAt - head));
        const want = all.length <= limitBytes ? all : all.slice(0, head) + cut + all.slice(tailAt);
        expect(shelf.text('stdout', all.length)).toBe(want);
      }),
    );
  });

  test('stores what is collected without the tail when following is interrupted, so that it can go on from there', async () => {
    const shelf = new Shelf();
    const keeper = new LogKeeper({ logs: shelf, ...RUN, limitBytes: 10 });
    await keeper.take('stdout', 0, Buffer.from('0123456789abcdef'));
    await keeper.flush();

    expect(shelf.text('stdout', 16)).toBe('01234567........');
  });

  test('stores what follows a gap where it belongs', async () => {
    const shelf = new Shelf();
    const keeper = new LogKeeper({ logs: shelf, ...RUN, limitBytes: 100 });
    await keeper.take('stdout', 0, Buffer.from('before'));
    await keeper.take('stdout', 10, Buffer.from('after'));
    await keeper.end();

    expect(shelf.text('stdout', 15)).toBe('before....after');
  });

  test('stores a correction in place of what a stream held, masked, and goes on after it', async () => {
    const shelf = new Shelf();
    const mask = new SecretMask(['hush-hush-hush']);
    const keeper = new LogKeeper({ logs: shelf, ...RUN, mask, limitBytes: 1_000 });
    await keeper.take('stderr', 0, Buffer.from('warning'));
    await keeper.take('stdout', 0, Buffer.from('one three'));
    await keeper.flush();
    await keeper.take('stdout', 9, Buffer.from(' five'));
    await keeper.correct('stdout', [{ at: 2, bytes: Buffer.from('one hush-hush-hush three') }]);
    await keeper.take('stdout', 26, Buffer.from(' four'));
    await keeper.end();

    expect(shelf.text('stdout', 31)).toBe('..one ************** three four');
    expect(shelf.text('stderr', 7)).toBe('warning');
  });

  test('stores a piece that is large enough at once', async () => {
    const shelf = new Shelf();
    const keeper = new LogKeeper({ logs: shelf, ...RUN, limitBytes: 1_000_000 });
    await keeper.take('stdout', 0, Buffer.alloc(70_000, 'x'));

    expect(shelf.chunks.map(({ bytes }) => bytes.length)).toEqual([70_000]);
    await keeper.end();
    expect(shelf.appends).toBe(1);
  });

  test('stores what a quiet job printed within a second', async () => {
    const shelf = new Shelf();
    const stored = new Promise<void>((resolve) => {
      const keeper = new LogKeeper({
        logs: {
          append: (...args) => shelf.append(...args).finally(resolve),
          replace: (...args) => shelf.replace(...args),
        },
        ...RUN,
        limitBytes: 1_000,
      });
      void keeper.take('stdout', 0, Buffer.from('waiting for input'));
    });
    await stored;

    expect(shelf.text('stdout', 17)).toBe('waiting for input');
  });

  test('reports a store that fails, and holds no timer', async () => {
    const shelf = new Shelf();
    shelf.error = new Error('the database does not answer');
    const keeper = new LogKeeper({ logs: shelf, ...RUN, limitBytes: 1_000 });
    await keeper.take('stdout', 0, Buffer.from('x'));

    await expect(keeper.end()).rejects.toThrow('the database does not answer');
  });
});
