import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../fake-http/fake-answer.js';
import type { FileHost } from './fake-file-host.js';
import { filesAnswer } from './fake-files.js';
import { LogFiles } from './fake-task-logs.js';

const ID = '6f1f7c5e-0b3c-4e0e-9a58-2d1a4c6f0b11';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fake-files-'));
  const logs = join(directory, 'alloc', 'logs');
  mkdirSync(logs, { recursive: true });
  const files = new LogFiles(logs, 't');
  files.append('stdout', Buffer.from('hello\n'));
  files.close();
  writeFileSync(join(directory, 'alloc', 'bytes'), Buffer.from([0xff, 0, 1]));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function ask(verb: string, query: string, host: Partial<FileHost> = {}): Answer {
  const allocation = { namespace: 'ns1', nodeId: 'n', directory, isKept: true, tasks: [] };
  const whole: FileHost = {
    version: '1.6.1',
    allocation: (id) => (id === ID ? allocation : undefined),
    node: () => ({ isConnected: true }),
    tokenRefusal: () => undefined,
    may: (_token, namespace, capability) => namespace === 'ns1' && capability === 'read-fs',
    ...host,
  };
  return filesAnswer(whole, { method: 'GET', path: '', query: new URLSearchParams(query) }, verb, ID);
}

async function bytesOf(answer: Answer): Promise<Buffer> {
  if (typeof answer === 'string' || !('stream' in answer)) throw new Error(JSON.stringify(answer));
  const pieces: Buffer[] = [];
  for await (const piece of answer.stream(new AbortController().signal)) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('ls names the files of a directory with their sizes, and the pipes beside the logs', () => {
  const pipe = { IsDir: false, Size: 0, FileMode: 'prw-------' };
  const file = { IsDir: false, FileMode: '-rw-r--r--' };
  const { body } = ask('ls', 'path=alloc/logs') as { body: object[] };

  expect(body).toHaveLength(4);
  expect(body).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ ...pipe, Name: '.t.stdout.fifo' }),
      expect.objectContaining({ ...pipe, Name: '.t.stderr.fifo' }),
      expect.objectContaining({ ...file, Name: 't.stdout.0', Size: 6 }),
      expect.objectContaining({ ...file, Name: 't.stderr.0', Size: 0 }),
    ]),
  );
  expect(body[0]).not.toHaveProperty('ContentType');
});

test('stat tells of one file, with its type', () => {
  const body = { Name: 't.stdout.0', Size: 6, IsDir: false, ContentType: '' };

  expect(ask('stat', 'path=alloc/logs/t.stdout.0')).toMatchObject({ status: 200, body });
  expect(ask('stat', 'path=/alloc')).toMatchObject({ status: 200, body: { Name: 'alloc', IsDir: true } });
});

test('cat and readat give the bytes', async () => {
  expect([...(await bytesOf(ask('cat', 'path=alloc/bytes')))]).toEqual([0xff, 0, 1]);
  expect([...(await bytesOf(ask('readat', 'path=alloc/bytes&offset=1&limit=1')))]).toEqual([0]);
  expect([...(await bytesOf(ask('readat', 'path=alloc/bytes&offset=1')))]).toEqual([0, 1]);
});

const UNKNOWN = { allocation: () => undefined };
const NO_PATH = { node: () => ({ isConnected: false }) };
const NO_RIGHT = { may: () => false };

test.each<[string, string, Partial<FileHost>, number, string]>([
  ['ls', 'path=../..', {}, 500, 'Path escapes the alloc directory'],
  ['ls', 'path=nowhere', {}, 404, 'open <dir>/nowhere: no such file or directory'],
  ['stat', 'path=nowhere', {}, 404, 'stat <dir>/nowhere: no such file or directory'],
  ['stat', 'path=alloc', NO_RIGHT, 500, 'Permission denied'],
  ['cat', 'path=nowhere', {}, 200, 'open <dir>/nowhere: no such file or directory'],
  ['cat', 'path=alloc/bytes', UNKNOWN, 200, `Unknown allocation "${ID}"`],
  ['cat', 'path=alloc/bytes', NO_PATH, 200, 'No path to node'],
  ['readat', 'path=alloc/bytes&offset=0', NO_RIGHT, 200, 'Permission denied'],
])('%s of %s is refused, and reading with 200', (verb, query, host, status, text) => {
  const headers = { 'content-type': 'text/plain' };

  expect(ask(verb, query, host)).toEqual({ status, body: text.replace('<dir>', directory), headers });
});

test('a collected directory is not there', () => {
  rmSync(directory, { recursive: true });

  expect(ask('ls', 'path=alloc/logs')).toMatchObject({
    ...{ status: 404, body: `open ${directory}/alloc/logs: no such file or directory` },
  });
});
