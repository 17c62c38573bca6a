import path from 'node:path';
import { DataDirLock, type DataPaths, dataPaths } from './data-dir.js';
import { endLocalJobs } from './local-jobs.js';
import { Part } from './part.js';
import { requireFree } from './ports.js';
import { identify } from './process-id.js';
import {
  type Addresses,
  type PartContext,
  type Ports,
  startApi,
  startDatabase,
  startTemporalServer,
  startWorker,
} from './stack-parts.js';

export interface StackOptions {
  dataDir: string;
  /** Wanted ports; absent or taken ones are replaced by free ones. */
  ports?: Ports;
  /** The API gets its wanted port, or the start fails. */
  isApiPortFixed?: boolean;
  /** Environment of the API and the worker, on top of ours. */
  env?: Record<string, string>;
  /** Told what happens, a line at a time. */
  say?: (line: string) => void;
  /** Gives the start up. */
  signal?: AbortSignal;
}

/**
 * Starts Postgres, Temporal, the API and a worker, and returns once all are ready. If one of them does not come up, or
 * `signal` aborts, what was started is stopped and the call fails.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const say = options.say ?? (() => {});
  const paths = dataPaths(path.resolve(options.dataDir));
  const lock = await DataDirLock.take(paths, say);
  const stack = new Stack(paths, lock, { ...options, say });
  try {
    await stack.start();
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** A platform on this machine. Parts that die are started again. */
export class Stack {
  readonly addresses: Addresses = {};
  private readonly parts: { database: Part; temporal: Part; api: Part; worker: Part };
  private readonly aborted = new AbortController();
  private stopping: Promise<void> | undefined;
  private fail: (error: Error) => void = () => {};
  /** Resolves if a part cannot be kept up. */
  readonly failed = new Promise<Error>((resolve) => {
    this.fail = resolve;
  });

  constructor(
    private readonly paths: DataPaths,
    private readonly lock: DataDirLock,
    private readonly options: StackOptions & { say: (line: string) => void },
  ) {
    const { env = {}, say } = options;
    const ports = { ...options.ports };
    const context: PartContext = { paths, ports, env, addresses: this.addresses, signal: this.aborted.signal, say };
    this.parts = {
      database: new Part('postgres', () => startDatabase(context), say),
      temporal: new Part('temporal', () => startTemporalServer(context), say),
      api: new Part('api', () => startApi(context), say),
      worker: new Part('worker', () => startWorker(context), say),
    };
  }

  /** In order of start. */
  private get order(): Part[] {
    const { database, temporal, api, worker } = this.parts;
    return [database, temporal, api, worker];
  }

  get apiUrl(): string {
    return this.addresses.apiUrl ?? '';
  }

  /** Ids of the processes that are up, by part. */
  get pids(): Record<string, number> {
    return Object.fromEntries(this.order.flatMap(({ name, pid }) => (pid === undefined ? [] : [[name, pid]])));
  }

  async start(): Promise<void> {
    // Only now: what an earlier start left may have held it until the lock was taken.
    const { isApiPortFixed = false, ports } = this.options;
    if (isApiPortFixed && ports?.api !== undefined) await requireFree(ports.api);
    const { signal } = this.options;
    signal?.addEventListener('abort', () => this.aborted.abort(), { once: true });
    const { database, temporal, api, worker } = this.parts;
    // Neither is left alone half started if the other fails.
    const first = await Promise.allSettled([this.startPart(database), this.startPart(temporal)]);
    for (const outcome of first) if (outcome.status === 'rejected') throw outcome.reason;
    await this.startPart(api);
    await this.startPart(worker);
    this.lock.record({ url: this.apiUrl });
    for (const part of this.order) part.watch(() => this.record(), this.fail);
  }

  private async startPart(part: Part): Promise<void> {
    this.options.signal?.throwIfAborted();
    await part.start();
    this.record();
    this.options.signal?.throwIfAborted();
  }

  private record(): void {
    const parts = Object.entries(this.pids).map(([name, pid]) => ({ name, ...identify(pid) }));
    this.lock.record({ parts });
  }

  /** Stops everything in reverse order, and then the jobs that ran on this machine. Can be called again. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    this.aborted.abort();
    await Promise.all(this.order.map((part) => part.unwatch()));
    for (const part of this.order.reverse()) {
      try {
        await part.stop();
      } catch (error) {
        this.options.say(`  ${part.name} did not stop as it should: ${error instanceof Error ? error.message : error}`);
      }
      if (part === this.parts.worker) await endLocalJobs(this.paths.state);
    }
    this.lock.release();
  }
}
