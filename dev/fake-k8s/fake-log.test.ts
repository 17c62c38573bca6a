import { ContainerLog } from './fake-log.js';
import { type LogWish, paced, readLog, troubled } from './fake-log-read.js';

const NEVER = new AbortController().signal;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z /g;

const wish = (parts: Partial<LogWish> = {}): LogWish => ({ isFollowed: false, hasTimes: false, ...parts });

async function textOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

const read = (log: ContainerLog, parts: Partial<LogWish> = {}) => textOf(readLog(log, wish(parts), NEVER));
const untimed = (text: string): string => text.replaceAll(TIME, '<time> ');

function logOf(...texts: string[]): ContainerLog {
  const log = new ContainerLog(10_000_000);
  for (const text of texts) log.append('stdout', Buffer.from(text, 'latin1'));
  return log;
}

test('only lines have a time, and what has no newline yet is not there before its end', async () => {
  const log = logOf('one\ntw', 'o\n\nrest\xff\0');
  expect(untimed(await read(log, { hasTimes: true }))).toBe('<time> one\n<time> two\n<time> \n');
  log.end();
  expect(await read(log)).toBe('one\ntwo\n\nrest\xff\0');
});

test('a long line is in several entries, of which the first alone has a time', async () => {
  const long = 'x'.repeat(40_000);
  const log = logOf(`${long.slice(0, 1_000)}`, `${long.slice(1_000)}\n`, `${'y'.repeat(16_384)}\n`);
  expect(untimed(await read(log, { hasTimes: true }))).toBe(`<time> ${long}\n<time> ${'y'.repeat(16_384)}\n`);
  // The last piece of a line that is cut by `tailLines` stands at the beginning of the answer.
  expect(untimed(await read(log, { hasTimes: true, tail: 2 }))).toBe(
    `<time> ${'x'.repeat(40_000 - 2 * 16_384)}\n<time> ${'y'.repeat(16_384)}\n`,
  );
});

test('the streams are merged as they arrive, a piece of one within a line of the other', async () => {
  const log = logOf('x'.repeat(16_385));
  log.append('stderr', Buffer.from('err\n'));
  log.append('stdout', Buffer.from('\n'));
  expect(untimed(await read(log, { hasTimes: true }))).toBe(`<time> ${'x'.repeat(16_384)}err\n<time> x\n`);
});

test('what is older than asked for is left out, and a limit cuts anywhere', async () => {
  const log = logOf('one\ntwo\n');
  const { next } = log.start;
  expect(await read(log, { since: next?.next?.at ?? '' })).toBe('two\n');
  expect(await read(log, { limitBytes: 5 })).toBe('one\nt');
  expect(await read(log, { limitBytes: 5, isFollowed: true })).toBe('one\nt');
  expect(await read(log, { tail: 0 })).toBe('');
});

test('a read sees the current file alone, and one that is going on goes on across a rotation', async () => {
  const log = new ContainerLog(1_000);
  const followed = textOf(readLog(log, wish({ isFollowed: true }), NEVER));
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i}\n`);
  for (const line of lines) log.append('stdout', Buffer.from(line));
  const rest = await read(log);
  expect(lines.join('').endsWith(rest)).toBe(true);
  expect(rest.length).toBeLessThan(1_000);
  log.rotate();
  expect(await read(log)).toBe('');
  log.end();
  expect(await followed).toBe(lines.join(''));
});

test('a follow waits for more, and ends when nobody reads it', async () => {
  const log = logOf('one\n');
  const gone = new AbortController();
  const bytes = readLog(log, wish({ isFollowed: true }), gone.signal);
  expect((await bytes.next()).value?.toString()).toBe('one\n');
  const next = bytes.next();
  log.append('stderr', Buffer.from('two\n'));
  expect((await next).value?.toString()).toBe('two\n');
  const last = bytes.next();
  gone.abort();
  expect(await last).toMatchObject({ done: true });
});

test('K05 a script makes a read silent, end, or break off after so many bytes', async () => {
  const gone = new AbortController();
  const bytes = (how: 'hang' | 'end' | 'drop') =>
    troubled(readLog(logOf('one\n', 'two\n'), wish(), NEVER), { how, afterBytes: 5 }, gone.signal);
  expect(await textOf(bytes('end'))).toBe('one\nt');
  await expect(textOf(bytes('drop'))).rejects.toThrow('breaks off');
  const silent = bytes('hang');
  expect((await silent.next()).value?.toString()).toBe('one\nt');
  const next = silent.next();
  gone.abort();
  expect(await next).toMatchObject({ done: true });
});

test('K29 a slow network takes its time', async () => {
  const before = performance.now();
  const bytes = readLog(logOf('x'.repeat(999), '\n'), wish(), NEVER);
  expect((await textOf(paced(bytes, { bytesPerSec: 10_000, delayMs: 20 }, NEVER))).length).toBe(1_000);
  expect(performance.now() - before).toBeGreaterThan(110);
});
