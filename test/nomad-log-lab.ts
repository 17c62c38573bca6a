import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Egress } from '../backends/egress/guard.js';
import { NomadClient } from '../backends/nomad/nomad.client.js';
import { type LogTailOptions, NomadLogTail } from '../backends/nomad/nomad.log.js';
import { type SeenRequest, send } from '../dev/fake-http/fake-answer.js';
import { type Fault, FaultScript } from '../dev/fake-http/fake-faults.js';
import type { FileHost } from '../dev/fake-nomad/fake-file-host.js';
import { filesAnswer } from '../dev/fake-nomad/fake-files.js';
import { logsAnswer } from '../dev/fake-nomad/fake-logs.js';
import { LogFiles, type LogLimits } from '../dev/fake-nomad/fake-task-logs.js';
import { parseAllowList } from '../policy/addresses.js';

const ID = '0f6a1c1e-4d0e-4000-8000-0123456789ab';
const ROUTE = /^\/v1\/client\/fs\/(\w+)\/(.*)$/;
export const LOGS = `/v1/client/fs/logs/${ID}`;
export const LISTING = `/v1/client/fs/ls/${ID}`;
export const STAT = `/v1/client/fs/stat/${ID}`;

/** One allocation whose log files a test writes, on a client of Nomad that answers over HTTP. */
export class LogLab {
  readonly requests: SeenRequest[] = [];
  readonly faults = new FaultScript();
  mayReadFiles = true;
  version = '1.6.1';
  private readonly directory = mkdtempSync(join(tmpdir(), 'nomad-log-'));
  private readonly logs = join(this.directory, 'alloc', 'logs');
  private readonly server = createServer((request, reply) => this.serve(request, reply));
  private client: NomadClient | undefined;

  static async start(): Promise<LogLab> {
    const lab = new LogLab();
    lab.clear();
    lab.server.listen(0, '127.0.0.1');
    await once(lab.server, 'listening');
    const addr = `http://127.0.0.1:${(lab.server.address() as AddressInfo).port}`;
    const egress = new Egress(parseAllowList('127.0.0.0/8').rules);
    lab.client = new NomadClient({ addr }, { token: 'x', egress, connections: 2 });
    return lab;
  }

  async stop(): Promise<void> {
    await this.client?.close();
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** As after its start: nothing printed, nothing wrong. */
  clear(): void {
    rmSync(this.logs, { recursive: true, force: true });
    mkdirSync(this.logs, { recursive: true });
    this.write(0, '');
    this.faults.clear();
    this.requests.length = 0;
    this.mayReadFiles = true;
  }

  tail(from = 0, more: Partial<LogTailOptions> = {}): NomadLogTail {
    if (!this.client) throw new Error('it was not started');
    const of = { client: this.client, allocation: ID, task: 'case', stream: 'stdout' as const };
    return new NomadLogTail({ ...of, from, fileBytes: 1_000, ...more });
  }

  write(index: number, bytes: string | Uint8Array): void {
    appendFileSync(join(this.logs, `case.stdout.${index}`), bytes);
  }

  /** What writes and drops files as a client of Nomad does. */
  rotated(limits: LogLimits): LogFiles {
    return new LogFiles(this.logs, 'case', limits);
  }

  drop(index: number): void {
    rmSync(join(this.logs, `case.stdout.${index}`), { force: true });
  }

  collect(): void {
    rmSync(this.logs, { recursive: true, force: true });
  }

  /** The next requests of a path meet these, in order. */
  meets(path: string, ...faults: Fault[]): void {
    for (const fault of faults) this.faults.add({ path, fault, times: 1 });
  }

  private serve(request: IncomingMessage, reply: ServerResponse): void {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://nomad.test');
    const seen = { method: request.method ?? '', path, query, token: 'x' };
    this.requests.push(seen);
    const [, verb = '', id = ''] = ROUTE.exec(path) ?? [];
    const answer = () =>
      verb === 'logs' ? logsAnswer(this.host(), seen, id) : filesAnswer(this.host(), seen, verb, id);
    void this.faults.answer(seen, answer).then((found) => send(reply, found));
  }

  private host(): FileHost {
    const { directory, version } = this;
    const held = {
      namespace: 'default',
      nodeId: 'n',
      directory,
      isKept: true,
      tasks: [{ name: 'case', isStarted: true }],
    };
    return {
      version,
      allocation: (id) => (id === ID ? held : undefined),
      node: () => ({ isConnected: true }),
      tokenRefusal: () => undefined,
      may: (_token, _namespace, capability) => capability === 'read-logs' || this.mayReadFiles,
    };
  }
}
