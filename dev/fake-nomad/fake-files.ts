import { createReadStream, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Answer, SeenRequest } from '../fake-http/fake-answer.js';
import { type FileHost, reached } from './fake-file-host.js';
import { FileRefusal } from './fake-log-files.js';

export const FILE_VERBS: readonly string[] = ['ls', 'stat', 'cat', 'readat'];

/** `GET /v1/client/fs/:verb/:alloc`, where the verb is not that of logs. */
export function filesAnswer(host: FileHost, request: SeenRequest, verb: string, id: string): Answer {
  const isRead = verb === 'cat' || verb === 'readat';
  if (!FILE_VERBS.includes(verb)) return { status: 404, body: 'Invalid method' };
  const headers = { 'content-type': 'text/plain' };
  try {
    const path = pathOf(host, request, id);
    if (verb === 'ls') return { status: 200, body: entries(path) };
    if (verb === 'stat') return { status: 200, body: { ...entry(path, statOf(path, 'stat')), ContentType: '' } };
    statOf(path, 'open');
    return { status: 200, headers, stream: () => createReadStream(path, verb === 'readat' ? range(request) : {}) };
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    // Reading a file has one status, whatever came of it.
    return { status: isRead ? 200 : error.status, body: error.message, headers };
  }
}

function pathOf(host: FileHost, request: SeenRequest, id: string): string {
  const { directory } = reached(host, request, id, ['read-fs']);
  const path = join(directory, request.query.get('path') ?? '/');
  const isInside = path === directory || path.startsWith(join(directory, '/'));
  if (!isInside) throw new FileRefusal(500, 'Path escapes the alloc directory');
  return path;
}

function statOf(path: string, call: 'open' | 'stat'): Stats {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new FileRefusal(404, `${call} ${path}: no such file or directory`);
  return found;
}

/** With the pipes that a client keeps beside the logs of a task. */
function entries(path: string): object[] {
  const found = statOf(path, 'open');
  const files = readdirSync(path).map((name) => entry(name, statOf(join(path, name), 'stat')));
  const streams = new Set(files.map(({ Name }) => Name.replace(/\.\d+$/, '')));
  const pipes = path.endsWith(join('alloc', 'logs')) ? [...streams].map((name) => pipe(`.${name}.fifo`, found)) : [];
  return [...pipes, ...files];
}

function entry(path: string, found: Stats) {
  const isDir = found.isDirectory();
  return {
    Name: basename(path),
    IsDir: isDir,
    Size: found.size,
    FileMode: isDir ? 'drwxrwxrwx' : '-rw-r--r--',
    ModTime: found.mtime.toISOString(),
  };
}

const pipe = (name: string, { mtime }: Stats): object => ({
  ...{ Name: name, IsDir: false, Size: 0, FileMode: 'prw-------' },
  ModTime: mtime.toISOString(),
});

function range({ query }: SeenRequest): { start: number; end: number } {
  const start = Number(query.get('offset') ?? '0');
  return { start, end: start + Number(query.get('limit') ?? Number.MAX_SAFE_INTEGER - start) - 1 };
}
