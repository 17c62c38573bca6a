import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Stack, startStack } from '../dev/launcher.js';

/** A platform of its own in a temporary directory, spoken to over HTTP as any client would. */
export class BenchPlatform {
  private constructor(
    private readonly stack: Stack,
    private readonly dir: string,
  ) {}

  static async start(): Promise<BenchPlatform> {
    const dir = await mkdtemp(path.join(tmpdir(), 'everdict-bench-'));
    const stack = await startStack({ dataDir: path.join(dir, 'data') });
    return new BenchPlatform(stack, dir);
  }

  async stop(): Promise<void> {
    await this.stack.stop();
    await rm(this.dir, { recursive: true, force: true });
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

  scorecard(id: string): Promise<Scorecard> {
    return this.call('GET', `/scorecards/${id}`);
  }

  /** Milliseconds until the scorecard satisfies the condition, looked at every 20 ms. */
  async until(id: string, holds: (scorecard: Scorecard) => boolean): Promise<number> {
    const began = performance.now();
    while (!holds(await this.scorecard(id))) await new Promise((resolve) => setTimeout(resolve, 20));
    return performance.now() - began;
  }
}

interface Scorecard {
  status: string;
  counts: Record<'submitted' | 'running' | 'settled', number>;
}
