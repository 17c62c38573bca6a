import { Readable } from 'node:stream';

export type Lines = Iterable<string> | AsyncIterable<string>;

export const line = (id: string, task = 'x') => `${JSON.stringify({ id, task })}\n`;

export function* cases(count: number, task = 'x'): Generator<string> {
  for (let index = 0; index < count; index += 1) yield line(`case-${index}`, task);
}

/** Sends lines as they are made; `signal` breaks it off. */
export async function uploadTo(url: string, id: string, lines: Lines, signal?: AbortSignal) {
  const body = Readable.toWeb(Readable.from(lines, { objectMode: false, highWaterMark: 65_536 }));
  const init = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body, duplex: 'half', signal };
  const response = await fetch(`${url}/datasets?id=${id}&version=1`, init as RequestInit);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** Ids of cases that are sent as lines. */
export const idsIn = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each).id);
