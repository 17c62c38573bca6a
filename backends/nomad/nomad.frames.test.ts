import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { aLab } from '../../test/nomad-jobs.js';
import { ALLOCATION_ID } from '../../test/scripted-nomad.js';
import { type FrameFault, FrameReader } from './nomad.frames.js';
import { NomadLogTail } from './nomad.log.js';

const frame = (data: Uint8Array, file = 'alloc/logs/case.stdout.0'): string =>
  JSON.stringify({ Data: Buffer.from(data).toString('base64'), File: file, Offset: data.length });

/** What a body says, read in pieces that end at these places. */
function read(body: Buffer, ends: readonly number[] = []): { files: string[]; bytes: string; fault?: FrameFault } {
  const reader = new FrameReader();
  const cuts = [0, ...ends.map((end) => end % (body.length + 1)).sort((a, b) => a - b), body.length];
  const frames = cuts.slice(1).flatMap((end, piece) => reader.push(body.subarray(cuts[piece], end)));
  const fault = reader.end();
  return {
    files: frames.map(({ file = '' }) => file),
    bytes: Buffer.concat(frames.map(({ data }) => data)).toString('latin1'),
    ...(fault && { fault }),
  };
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });
const fileName = fc.string({
  unit: fc.constantFrom('{', '}', '"', '\\', '/', '.', '0', 'é'),
  minLength: 1,
  maxLength: 8,
});
const part = fc.oneof(
  fc.record({ data: fc.uint8Array({ minLength: 1, maxLength: 200 }), file: fileName }),
  fc.constantFrom('{}', '{"FileEvent":"file truncated","File":"f"}', '\n'),
);

test('frames are read in order however they are cut, and what is no JSON after them is none of the output', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.constantFrom('', 'failed to list entries: {x}'),
      cuts,
      (parts, error, at) => {
        const data = parts.flatMap((one) => (typeof one === 'string' ? [] : [one]));
        const body = parts.map((one) => (typeof one === 'string' ? one : frame(one.data, one.file))).join('') + error;
        expect(read(Buffer.from(body), at)).toEqual({
          files: data.map(({ file }) => file),
          bytes: Buffer.concat(data.map((one) => one.data)).toString('latin1'),
          ...(error && { fault: { kind: 'error', text: error } }),
        });
      },
    ),
  );
});

const one = frame(Buffer.from('\0\xff\n', 'latin1'));
test.each<[string, string, FrameFault | undefined, string]>([
  ['nothing', '', undefined, ''],
  ['heartbeats alone', '{}{}{}', undefined, ''],
  ['bytes of any kind', one, undefined, '\0\xff\n'],
  ['a frame that was cut', `${one}${one.slice(0, 20)}`, { kind: 'cut' }, '\0\xff\n'],
  ['a frame that was cut in its first byte', '{', { kind: 'cut' }, ''],
  ['an error alone', 'No path to node', { kind: 'error', text: 'No path to node' }, ''],
  ['an error in braces', `${one}{oops}`, { kind: 'error', text: '{oops}' }, '\0\xff\n'],
  ['a list', '[]', { kind: 'error', text: '[]' }, ''],
  ['data that is no text', '{"Data":5}', { kind: 'error', text: '{"Data":5}' }, ''],
  ['no fields but others', '{"Data":null,"More":{"a":["}"]}}', undefined, ''],
])('%s', (_title, body, fault, bytes) => {
  expect(read(Buffer.from(body))).toEqual({
    files: bytes ? ['alloc/logs/case.stdout.0'] : [],
    bytes,
    ...(fault && { fault }),
  });
});

test('of what has no end a beginning is held', () => {
  const reader = new FrameReader();
  const piece = Buffer.alloc(512 * 1_024, 'x');
  reader.push(Buffer.from('{"Data":"'));
  for (let pieces = 0; pieces < 20; pieces += 1) expect(reader.push(piece)).toEqual([]);
  const fault = reader.end();
  expect(fault?.kind === 'error' && fault.text.length).toBeLessThan(2_000);
});

test.each([
  ['is broken', 'no frame ', 'unreachable'],
  ['says nothing', '{}', 'bytes'],
])('an answer without an end that %s is left at once', async (_title, piece, kind) => {
  const part = piece.repeat(8_192);
  let isLeft = false;
  const server = createServer((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.once('close', () => {
      isLeft = true;
    });
    const go = (): void => {
      for (let isTaken = true; isTaken && !isLeft; ) isTaken = reply.write(part);
    };
    reply.on('drain', go);
    go();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { client } = aLab(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    const of = { client, allocation: ALLOCATION_ID, task: 'case', stream: 'stdout' as const };
    const { signal } = new AbortController();
    const read = await new NomadLogTail({ ...of, from: 0, fileBytes: 1_000 }).next(signal);
    expect(read.kind).toBe(kind);
    while (!isLeft) await new Promise(setImmediate);
  } finally {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
});
