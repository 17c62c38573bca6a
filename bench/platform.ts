import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowClient } from '@temporalio/client';
import { type Stack, startStack } from '../dev/launcher.js';
import { sum } from './figures.js';

/** A platform of its own in a temporary directory, spoken to over HTTP as any client would. */
export class BenchPlatform {
  private constructor(
    readonly stack: Stack,
    readonly dir: string,
    private readonly connection: Connection,
  ) {}

  static async start(): Promise<BenchPlatform> {
    const dir = await mkdtemp(path.join(tmpdir(), 'everdict-bench-'));
    const stack = await startStack({ dataDir: path.join(dir, 'data') });
    const connection = await Connection.connect({ address: stack.addresses.temporalAddress });
    return new BenchPlatform(stack, dir, connection);
  }

  async stop(): Promise<void> {
    await this.connection.close();
    await this.stack.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  get temporal(): WorkflowClient {
    return new Client({ connection: this.connection }).workflow;
  }

  get pids(): Record<'api' | 'worker' | 'temporal' | 'postgres', number> {
    const { api = 0, worker = 0, temporal = 0, postgres = 0 } = this.stack.pids;
    return { api, worker, temporal, postgres };
  }

  async call<T>(method: 'GET' | 'POST', route: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.stack.apiUrl}${route}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Registers a dataset out of a stream of lines. */
  async upload(query: string, lines: Readable): Promise<void> {
    const headers = { 'content-type': 'application/x-ndjson' };
    const init = { method: 'POST', headers, body: Readable.toWeb(lines), duplex: 'half' } as RequestInit;
    const response = await fetch(`${this.stack.apiUrl}/datasets?${query}`, init);
    if (!response.ok) throw new Error(`upload: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }

  /** Reads an answer to its end and keeps nothing of it. */
  async drain(route: string): Promise<number> {
    const response = await fetch(`${this.stack.apiUrl}${route}`);
    if (!response.ok) throw new Error(`GET ${route}: ${response.status} ${await response.text()}`);
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    return bytes;
  }

  /** Registers a local runtime, a harness with this command, and a dataset of so many equal cases. */
  async register(id: string, slots: number, cases: number, command: string): Promise<void> {
    const head = { id, version: '1.0.0' };
    const task = (index: number) => ({ id: `case-${index}`, task: 'none' });
    await this.call('POST', '/runtimes', { ...head, kind: 'local', maxConcurrent: slots });
    await this.call('POST', '/harnesses', { ...head, kind: 'command', command });
    await this.call('POST', '/datasets', { ...head, cases: Array.from({ length: cases }, (_, index) => task(index)) });
  }

  async submit(id: string): Promise<string> {
    const request = { dataset: id, harness: id, runtime: id };
    return (await this.call<{ id: string }>('POST', '/scorecards', request)).id;
  }

  /** A whole scorecard of what is registered under this id. */
  async complete(id: string): Promise<string> {
    const scorecard = await this.submit(id);
    await this.until(scorecard, ({ status }) => status === 'completed', 100);
    return scorecard;
  }

  /** History events of a workflow: the mean over these. */
  async meanEvents(workflowIds: readonly string[]): Promise<number> {
    const { temporal } = this;
    const lengths: number[] = [];
    for (const id of workflowIds) lengths.push((await temporal.getHandle(id).describe()).historyLength);
    return sum(lengths) / lengths.length;
  }

  scorecard(id: string): Promise<Scorecard> {
    return this.call('GET', `/scorecards/${id}`);
  }

  /** Looks again and again until the scorecard satisfies the condition. */
  async until(id: string, holds: (scorecard: Scorecard) => boolean, everyMs = 20): Promise<void> {
    while (!holds(await this.scorecard(id))) await sleep(everyMs);
  }
}

interface Scorecard {
  status: string;
  counts: Record<'submitted' | 'running' | 'settled', number>;
}
