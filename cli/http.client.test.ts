import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from './http.client.js';

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
