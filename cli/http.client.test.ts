import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { HttpClient, jsonBody } from './http.client.js';

const LIMIT_MS = 400;

/** A client of a platform that answers a download as the test says. */
async function downloading(answer: (response: ServerResponse) => Promise<void>) {
  const server = createServer((_request, response) => void answer(response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, LIMIT_MS);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { lines: client.stream('/cases.jsonl'), close };
}

/** Twice as long as the limit in all, never for long without a byte. */
async function trickle(response: ServerResponse): Promise<void> {
  for (let line = 0; line < 16; line += 1) {
    response.write(`${line}\n`);
    await sleep(LIMIT_MS / 8);
  }
  response.end();
}

async function textOf(lines: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of lines) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('a download goes on for as long as bytes come', async () => {
  const { lines, close } = await downloading(trickle);
  const text = await textOf(lines);
  expect(text.split('\n')).toHaveLength(17);
  close();
});

test('a download whose reader is slow is not taken for one that stopped', async () => {
  const { lines, close } = await downloading(async (response) => void response.end('a\nb\n'));
  let text = '';
  for await (const piece of lines) {
    await sleep(2 * LIMIT_MS);
    text += Buffer.from(piece).toString();
  }
  expect(text).toBe('a\nb\n');
  close();
});

test.each([
  ['before its first byte', async () => {}],
  ['in the middle', async (response: ServerResponse) => void response.write('a\n')],
])('a download that stops %s ends with what happened', async (_title, answer) => {
  const { lines, close } = await downloading(answer);
  await expect(textOf(lines)).rejects.toThrow('no answer in time');
  close();
});

describe('a platform that is asked too often', () => {
  /** Refuses the first `refusals` calls and asks for `after`. */
  async function asking(refusals: number, after: string) {
    let calls = 0;
    const server = createServer((request, response) => {
      calls += 1;
      request.resume();
      const isRefused = calls <= refusals;
      response.writeHead(isRefused ? 429 : 200, isRefused ? { 'retry-after': after } : {});
      response.end(JSON.stringify(isRefused ? { code: 'TOO_MANY_REQUESTS', detail: 'slow down' } : { calls }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const slept: number[] = [];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new HttpClient(url, LIMIT_MS, async (ms) => void slept.push(ms));
    const result = await client.post('/runs', z.object({ calls: z.number() }), { body: jsonBody({ a: 1 }) }).then(
      ({ reply }) => reply,
      (error: Error) => error.message,
    );
    server.close();
    return { result, slept };
  }

  test.each([
    ['is asked again when it says', 2, '3', { calls: 3 }, [3_000, 3_000]],
    ['is not asked without end', 99, '1', 'slow down', [1_000, 1_000, 1_000, 1_000, 1_000]],
    ['is not waited for where it says to come back much later', 1, '3600', 'slow down', []],
    ['is not asked again where it does not say when', 1, 'later', 'slow down', []],
  ])('%s', async (_title, refusals, after, expected, waits) => {
    const { result, slept } = await asking(refusals, after);
    expect([result, slept]).toEqual([expected, waits]);
  });
});
