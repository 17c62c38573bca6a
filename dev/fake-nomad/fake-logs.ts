import { join } from 'node:path';
import type { Answer, SeenRequest } from '../fake-http/fake-answer.js';
import { type FileHost, isSaidByName, reached } from './fake-file-host.js';
import { FileRefusal, type LogWish, read } from './fake-log-files.js';
import { framed, plain } from './fake-log-frames.js';

const BOOLEANS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false])),
};

/** `GET /v1/client/fs/logs/:alloc` */
export function logsAnswer(host: FileHost, request: SeenRequest, id: string): Answer {
  const asked = wishOf(request.query, id);
  if ('status' in asked) return asked;
  const { isPlain, ...wish } = asked;
  const headers = { 'content-type': isPlain ? 'text/plain' : 'application/json' };
  try {
    const allocation = reached(host, request, id, ['read-logs', 'read-fs']);
    if (!allocation.isKept && isSaidByName(host)) {
      throw new FileRefusal(404, `state for allocation ${id} not found on client`);
    }
    const task = allocation.tasks.find(({ name }) => name === wish.task);
    const name = JSON.stringify(wish.task);
    if (!task) throw new FileRefusal(400, `unknown task name ${name}`);
    if (!task.isStarted) throw new FileRefusal(404, `task ${name} not started yet. No logs available`);
    const pieces = read(join(allocation.directory, 'alloc', 'logs'), wish);
    const bytes = isPlain ? plain : framed;
    return { status: 200, headers, stream: (gone) => ending(bytes(pieces(gone))) };
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    return { status: error.status, body: error.message, headers };
  }
}

/** The status is said: what fails from now on is text after the output. */
async function* ending(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    yield Buffer.from(error.message);
  }
}

function wishOf(query: URLSearchParams, id: string): (LogWish & { isPlain: boolean }) | (Answer & { status: number }) {
  const refused = (body: string) => ({ status: 400, body });
  const task = query.get('task');
  const stream = query.get('type');
  const origin = query.get('origin') || 'start';
  const follow = query.get('follow') || 'false';
  const isPlain = query.get('plain') || 'false';
  const offset = query.get('offset') || '0';
  const noBoolean = (field: string, word: string) =>
    refused(`failed to parse ${field} field to boolean: strconv.ParseBool: parsing "${word}": invalid syntax`);
  if (id === '') return refused('must provide a valid alloc id');
  if (!task) return refused('must provide task name');
  if (BOOLEANS[follow] === undefined) return noBoolean('follow', follow);
  if (BOOLEANS[isPlain] === undefined) return noBoolean('plain', isPlain);
  if (stream !== 'stdout' && stream !== 'stderr') return refused('must provide log type (stdout/stderr)');
  if (!/^[+-]?\d+$/.test(offset)) {
    return refused(`error parsing offset: strconv.ParseInt: parsing "${offset}": invalid syntax`);
  }
  if (origin !== 'start' && origin !== 'end') return refused('origin must be start or end');
  return { task, stream, origin, offset: Number(offset), isFollowed: BOOLEANS[follow], isPlain: BOOLEANS[isPlain] };
}
