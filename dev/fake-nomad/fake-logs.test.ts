import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../fake-http/fake-answer.js';
import type { FileHost, HeldAllocation } from './fake-file-host.js';
import { logsAnswer } from './fake-logs.js';
import { LogFiles } from './fake-task-logs.js';

const ID = '6f1f7c5e-0b3c-4e0e-9a58-2d1a4c6f0b11';
const NODE = 'b7a1c1de-58f3-4cf4-8d6e-0a4c1f9b2e00';
const MB = 1024 * 1024;

const root = mkdtempSync(join(tmpdir(), 'fake-logs-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let directory = '';
let logs: LogFiles;
beforeEach(() => {
  directory = mkdtempSync(join(root, 'a-'));
  mkdirSync(join(directory, 'alloc', 'logs'), { recursive: true });
  logs = new LogFiles(join(directory, 'alloc', 'logs'), 't', { MaxFiles: 2, MaxFileSizeMB: 1 });
});
afterEach(() => logs.close());

const write = (text: string, stream: 'stdout' | 'stderr' = 'stdout'): void => logs.append(stream, Buffer.from(text));
const collect = (): void => rmSync(directory, { recursive: true });

function ask(query: string, host: Partial<FileHost> = {}, held: Partial<HeldAllocation> = {}, id = ID): Answer {
  const allocation = {
    ...{ namespace: 'ns1', nodeId: NODE, directory, isKept: true },
    tasks: [
      { name: 't', isStarted: true },
      { name: 'late', isStarted: false },
    ],
    ...held,
  };
  const whole: FileHost = {
    version: '1.6.1',
    allocation: (wanted) => (wanted === ID ? allocation : undefined),
    node: (wanted) => (wanted === NODE ? { isConnected: true } : undefined),
    tokenRefusal: () => undefined,
    may: () => true,
    ...host,
  };
  return logsAnswer(whole, { method: 'GET', path: '', query: new URLSearchParams(query) }, id);
}

/** Status, type and body. `seen` is called with what is there of it, and ends the reading by `true`. */
async function read(
  answer: Answer,
  seen: (body: string) => boolean = () => false,
): Promise<{ status: number; type?: string; body: string }> {
  if (typeof answer === 'string') throw new Error(answer);
  const type = answer.headers?.['content-type'];
  if (!('stream' in answer)) return { status: answer.status, ...(type && { type }), body: String(answer.body) };
  const pieces: Buffer[] = [];
  const gone = new AbortController();
  for await (const piece of answer.stream(gone.signal)) {
    pieces.push(piece);
    if (seen(Buffer.concat(pieces).toString())) gone.abort();
  }
  return { status: answer.status, ...(type && { type }), body: Buffer.concat(pieces).toString() };
}

/** Does each step once the body of what is followed has that many pieces more, and reads on until the last. */
function stepwise(...steps: (() => void)[]): () => boolean {
  let done = 0;
  return () => {
    steps[done]?.();
    done += 1;
    return done > steps.length;
  };
}

const nothing = (): void => undefined;

const bodyOf = async (query: string): Promise<string> => (await read(ask(`task=t&type=stdout&${query}`))).body;

/** The frames of a body, which has nothing between them, and the text after the last. */
function frames(body: string): { frames: Record<string, unknown>[]; rest: string } {
  const parts = body.match(/\{[^}]*\}/g) ?? [];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return { frames: parts.map((part) => JSON.parse(part) as Record<string, unknown>), rest: body.slice(length) };
}

const dataOf = (list: Record<string, unknown>[]): Buffer =>
  Buffer.concat(list.map(({ Data }) => Buffer.from(typeof Data === 'string' ? Data : '', 'base64')));

test.each([
  ['type=stdout', 'must provide task name'],
  ['task=t', 'must provide log type (stdout/stderr)'],
  ['task=t&type=both', 'must provide log type (stdout/stderr)'],
  ['task=t&type=stdout&origin=middle', 'origin must be start or end'],
  [
    'task=t&type=stdout&follow=yes',
    'failed to parse follow field to boolean: strconv.ParseBool: parsing "yes": invalid syntax',
  ],
  [
    'task=t&type=stdout&plain=x',
    'failed to parse plain field to boolean: strconv.ParseBool: parsing "x": invalid syntax',
  ],
  ['task=t&type=stdout&offset=1k', 'error parsing offset: strconv.ParseInt: parsing "1k": invalid syntax'],
])('parameters %s are refused with 400', (query, text) => {
  expect(ask(query)).toEqual({ status: 400, body: text });
});

const OK = 'task=t&type=stdout';
const GONE = (where: string): string => `failed to list entries: open ${where}/alloc/logs: no such file or directory`;

test.each<[string, string, Partial<FileHost>, Partial<HeldAllocation>, number, string]>([
  ['unknown to the servers', OK, { allocation: () => undefined }, {}, 404, `Unknown allocation "${ID}"`],
  ['on a node that is gone', OK, {}, { nodeId: 'x' }, 400, 'Unknown node "x"'],
  ['on a node out of reach', OK, { node: () => ({ isConnected: false }) }, {}, 404, 'No path to node'],
  ['of another task', 'task=x&type=stdout', {}, {}, 400, 'unknown task name "x"'],
  [
    ...(['of a task that never started', 'task=late&type=stdout'] as const),
    ...([{}, {}, 404, 'task "late" not started yet. No logs available'] as const),
  ],
  ['collected, of another task', 'task=x&type=stdout', {}, { isKept: false }, 400, 'unknown task name "x"'],
  [
    ...(['collected, since 1.6.2', OK, { version: '1.6.2' }, { isKept: false }] as const),
    ...([404, `state for allocation ${ID} not found on client`] as const),
  ],
  [
    ...(['collected, of 2.0', OK, { version: '2.0.5' }, { isKept: false }] as const),
    ...([404, `state for allocation ${ID} not found on client`] as const),
  ],
  [
    'with a token that is none',
    OK,
    { tokenRefusal: () => 'ACL token expired' },
    {},
    500,
    'rpc error: ACL token expired',
  ],
  ['without the right to read', OK, { may: () => false }, {}, 500, 'Permission denied'],
])('an allocation %s is answered in its words', async (_title, query, host, held, status, body) => {
  expect(await read(ask(`${query}&plain=true`, host, held))).toEqual({ status, type: 'text/plain', body });
  expect(await read(ask(query, host, held))).toEqual({ status, type: 'application/json', body });
});

test('a collected allocation is a directory that is not there, until 1.6.2', async () => {
  collect();

  expect(await read(ask(`${OK}&plain=true`, {}, { isKept: false }))).toEqual({
    ...{ status: 500, type: 'text/plain', body: GONE(directory) },
  });
});

test('a shortened id is refused', async () => {
  const body = 'alloc lookup failed: index error: UUID must be 36 characters';

  expect(await read(ask(OK, {}, {}, ID.slice(0, 8)))).toMatchObject({ status: 500, body });
});

test('a task whose logs are off has none', async () => {
  logs.close();
  rmSync(join(directory, 'alloc', 'logs', 't.stdout.0'));

  expect(await read(ask(OK))).toMatchObject({
    ...{ status: 404, body: 'log entry for task "t" and log type "stdout" not found' },
  });
});

test.each([
  ['', 'hi\n'],
  ['offset=1', 'i\n'],
  ['offset=3', ''],
  ['offset=99', ''],
  ['origin=end&offset=2', 'i\n'],
  ['origin=end&offset=99', 'hi\n'],
  ['offset=-2', 'i\n'],
  ['offset=-2&origin=end', '\n'],
])('of "hi" `%s` is %j', async (query, want) => {
  write('hi\n');

  expect(await bodyOf(`plain=true&${query}`)).toBe(want);
});

test('each stream has its own output', async () => {
  write('out\n');
  write('err\n', 'stderr');

  expect((await read(ask('task=t&type=stderr&plain=true'))).body).toBe('err\n');
});

test('N09 files are numbered on, the oldest goes, a line is cut, and offsets count from what is kept', async () => {
  const line = `${'x'.repeat(96)}\n`;
  const count = Math.ceil((2.5 * MB) / line.length);
  for (let i = 0; i < count; i += 1) write(line);
  const all = line.repeat(count);

  const kept = await bodyOf('plain=true');
  expect(kept).toBe(all.slice(MB));
  expect(kept.startsWith('x'.repeat(96))).toBe(false);
  expect(await bodyOf(`plain=true&offset=${MB + 5}`)).toBe(all.slice(2 * MB + 5));
  expect(await bodyOf(`plain=true&origin=end&offset=${MB}`)).toBe(all.slice(-MB));
});

test('a frame holds at most 64 KiB of one file, and its Offset is where its first read ended', async () => {
  write('y'.repeat(MB + 100));
  const { frames: list, rest } = frames(await bodyOf('plain=false'));

  expect(rest).toBe('');
  expect(dataOf(list).length).toBe(MB + 100);
  expect(list[0]).toMatchObject({ File: 'alloc/logs/t.stdout.0', Offset: 32 * 1024 });
  expect(list[1]).toMatchObject({ Offset: 96 * 1024 });
  expect(list.at(-1)).toMatchObject({ File: 'alloc/logs/t.stdout.1', Offset: 100 });
  expect(list.map((frame) => dataOf([frame]).length)).toEqual([...Array<number>(16).fill(64 * 1024), 100]);
});

test('what is followed gets what comes, with heartbeats, and does not end with its task', async () => {
  write('one\n');
  const answer = await read(
    ask(`${OK}&follow=true`),
    stepwise(
      () => write('two\n'),
      () => logs.close(),
      nothing,
    ),
  );
  const { frames: list, rest } = frames(answer.body);

  expect(dataOf(list).toString()).toBe('one\ntwo\n');
  expect(list.slice(2)).toEqual([{}, {}]);
  expect(rest).toBe('');
});

test('what is followed goes on into the next file', async () => {
  write('a'.repeat(MB - 10));
  const first = ask(`${OK}&follow=true&plain=true&offset=${MB - 20}`);
  const answer = await read(
    first,
    stepwise(() => write('b'.repeat(20)), nothing),
  );

  expect(answer.body).toBe(`${'a'.repeat(10)}${'b'.repeat(20)}`);
});

test.each([
  ['true', (body: string) => expect(body).toBe(`a\nb\n${GONE(directory)}`)],
  [
    'false',
    (body: string) => {
      const { frames: list, rest } = frames(body);
      expect(dataOf(list).toString()).toBe('a\nb\n');
      expect(list.at(-1)).toEqual({ File: 'alloc/logs/t.stdout.0', FileEvent: 'file deleted', Offset: 4 });
      expect(rest).toBe(GONE(directory));
    },
  ],
])('collected while it is followed (plain=%s), the text of the error is glued to the output', async (plain, check) => {
  write('a\nb\n');
  const { status, body } = await read(
    ask(`${OK}&follow=true&plain=${plain}`),
    stepwise(collect, nothing, nothing, nothing),
  );

  expect(status).toBe(200);
  check(body);
});

test('a file that is cut is read from its start again', async () => {
  write('before\n');
  const path = join(directory, 'alloc', 'logs', 't.stdout.0');
  const cut = (): void => {
    truncateSync(path);
    appendFileSync(path, 'new\n');
  };
  const { body } = await read(ask(`${OK}&follow=true`), stepwise(cut, nothing));
  const { frames: list } = frames(body);

  expect(list).toContainEqual({ File: 'alloc/logs/t.stdout.0', FileEvent: 'file truncated', Offset: 0 });
  expect(dataOf(list).toString()).toBe('before\nnew\n');
});
