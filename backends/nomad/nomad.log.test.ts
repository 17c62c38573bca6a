import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseAllowList } from '../../policy/addresses.js';
import { Egress } from '../egress/guard.js';
import { NomadClient } from './nomad.client.js';
import { type LogRead, NomadLogTail } from './nomad.log.js';

const ALLOCATION = '0f6a1c1e-0000-4000-8000-000000000001';
const signal = AbortSignal.timeout(60_000);

/** The log files of one allocation as Nomad serves them: offsets count from the oldest that is left. */
class LogServer {
  files = new Map<number, Buffer>([[0, Buffer.alloc(0)]]);
  frameBytes = 64 * 1_024;
  mayList = true;
  asked: URL[] = [];
  /** What the next requests of logs get in place of the log. */
  instead: { status: number; body: string | Buffer; type?: string }[] = [];
  glued = '';
  private readonly server = createServer((request, reply) => this.serve(request, reply));

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  write(index: number, text: string | Buffer): void {
    this.files.set(index, Buffer.concat([this.files.get(index) ?? Buffer.alloc(0), Buffer.from(text)]));
  }

  private serve(request: IncomingMessage, reply: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://nomad.test');
    this.asked.push(url);
    const files = [...this.files].sort(([a], [b]) => a - b);
    if (url.pathname === `/v1/client/fs/ls/${ALLOCATION}`) {
      if (!this.mayList) {
        reply.writeHead(403).end('Permission denied');
        return;
      }
      reply.end(JSON.stringify(files.map(([index, { length }]) => ({ Name: `case.stdout.${index}`, Size: length }))));
      return;
    }
    const instead = this.instead.shift();
    if (instead) {
      reply.writeHead(instead.status, { 'content-type': instead.type ?? 'application/json' }).end(instead.body);
      return;
    }
    reply.writeHead(200, { 'content-type': 'application/json' });
    let skip = Number(url.searchParams.get('offset'));
    for (const [index, content] of files) {
      let at = Math.min(skip, content.length);
      skip -= at;
      for (; at < content.length; at += this.frameBytes) {
        const data = content.subarray(at, at + this.frameBytes);
        const frame = {
          Data: data.toString('base64'),
          File: `alloc/logs/case.stdout.${index}`,
          Offset: at + data.length,
        };
        reply.write(`${JSON.stringify(frame)}{}`);
      }
    }
    reply.end(this.glued);
  }
}

let nomad: LogServer;
let client: NomadClient;
beforeEach(async () => {
  nomad = new LogServer();
  const egress = new Egress(parseAllowList('127.0.0.0/8').rules);
  client = new NomadClient({ addr: await nomad.start() }, { token: 'x', egress, connections: 2 });
});
afterEach(async () => {
  await client.close();
  nomad.stop();
});

const tailOf = (from = 0, more: object = {}): NomadLogTail =>
  new NomadLogTail({
    ...{ client, allocation: ALLOCATION, task: 'case', stream: 'stdout', from, fileBytes: 1_000 },
    ...more,
  });

/** Reads until there is nothing new: text by its offset, each gap begins a new one. */
async function readAll(tail: NomadLogTail, found: [number, string][] = []): Promise<[number, string][]> {
  for (;;) {
    const read: LogRead = await tail.next(signal);
    if (read.kind !== 'bytes') throw new Error(JSON.stringify(read));
    if (read.bytes.length === 0) return found;
    const text = Buffer.from(read.bytes).toString('latin1');
    const last = found.at(-1);
    if (last && last[0] + last[1].length === read.at) last[1] += text;
    else found.push([read.at, text]);
  }
}

test('what a job prints is read on from where reading was, and once', async () => {
  const tail = tailOf();
  expect(await readAll(tail)).toEqual([]);
  nomad.write(0, 'one\n');
  const found = await readAll(tail);
  nomad.write(0, 'two\n');
  nomad.write(1, 'three\n');
  expect(await readAll(tail, found)).toEqual([[0, 'one\ntwo\nthree\n']]);
  expect([await tail.verify(signal), tail.isHeadCut, tail.seen]).toEqual(['whole', false, 14]);
});

test.each([true, false])('a worker that takes over goes on at its offset (may list files: %s)', async (mayList) => {
  nomad.mayList = mayList;
  for (const index of [0, 1, 2]) nomad.write(index, `${index}`.repeat(500 + index));
  const tail = tailOf(700);
  expect(await readAll(tail)).toEqual([[700, '1'.repeat(301) + '2'.repeat(502)]]);
  nomad.write(2, 'on');
  expect(await readAll(tail)).toEqual([[1_503, 'on']]);
});

test.each([true, false])(
  'N09 files that go between reads cut nothing that was read, and shift nothing (may list files: %s)',
  async (mayList) => {
    nomad.mayList = mayList;
    for (const index of [0, 1, 2]) nomad.write(index, `${index}`.repeat(900));
    const tail = tailOf();
    const found = await readAll(tail);
    nomad.files.delete(0);
    nomad.write(2, '+');
    nomad.write(3, 'x');
    expect(await readAll(tail, found)).toEqual([[0, `${'0'.repeat(900)}${'1'.repeat(900)}${'2'.repeat(900)}+x`]]);
    expect(tail.isHeadCut).toBe(false);
    nomad.files.clear();
    nomad.write(6, 'far on');
    expect((await readAll(tail)).at(-1)).toEqual([2_701 + 3_000, 'far on']);
    expect(tail.isHeadCut).toBe(true);
  },
);
