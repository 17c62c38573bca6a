import path from 'node:path';
import type { Census } from '../store/census.js';
import { censusOf } from './census.js';
import type { DataPaths } from './data-dir.js';
import { DataDirLock } from './data-dir-lock.js';
import { endLocalJobs } from './local-jobs.js';
import { boundLogs, logOf } from './log-file.js';
import { Part, type Running } from './part.js';
import { PART_NAMES, type PartName, partsOn } from './part-processes.js';
import { whyTaken } from './ports.js';
import { endProcess, identify } from './process-id.js';
import {
  type Addresses,
  type PartContext,
  type Ports,
  startApi,
  startDatabase,
  startTemporalServer,
  startWorker,
} from './stack-parts.js';
import { withWayOut } from './way-out.js';

export interface StackOptions {
  dataDir: string;
  /** Wanted ports; absent or taken ones are replaced by free ones. */
  ports?: Ports;
  /** Ports of these names are the wanted ones, or the start fails. */
  fixedPorts?: readonly ('api' | 'temporalUi')[];
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
  const lock = await DataDirLock.take(path.resolve(options.dataDir), say);
  const stack = new Stack(lock, { ...options, say });
  try {
    await stack.start();
    return stack;
  } catch (error) {
    await stack.stop();
    throw withWayOut(error, lock.paths.dir);
  }
}

const HOUSEKEEPING_MS = 10_000;
/** What a worker that is not ours has to give its work away. */
const OTHERS_WITHIN_MS = 15_000;

/** A platform on this machine. Parts that die are started again. */
export class Stack {
  readonly addresses: Addresses = {};
  /** What an earlier start left in the database; nothing if there was none. */
  found: Census | undefined;
  private readonly paths: DataPaths;
  private readonly parts: Record<PartName, Part>;
  private housekeeping: NodeJS.Timeout | undefined;
  private readonly aborted = new AbortController();
  private stopping: Promise<void> | undefined;
  private fail: (error: Error) => void = () => {};
  /** Resolves if a part cannot be kept up. */
  readonly failed = new Promise<Error>((resolve) => {
    this.fail = resolve;
  });

  constructor(
    private readonly lock: DataDirLock,
    private readonly options: StackOptions & { say: (line: string) => void },
  ) {
    const { env = {}, say } = options;
    const { paths } = lock;
    this.paths = paths;
    const ports = { ...options.ports };
    const context: PartContext = { paths, ports, env, addresses: this.addresses, signal: this.aborted.signal, say };
    const part = (name: PartName, start: (context: PartContext) => Promise<Running>): Part =>
      new Part({ name, start: () => start(context), logFile: logOf(paths, name), say });
    this.parts = {
      postgres: part('postgres', startDatabase),
      temporal: part('temporal', startTemporalServer),
      api: part('api', startApi),
      worker: part('worker', startWorker),
    };
  }

  /** In order of start. */
  private get order(): Part[] {
    return PART_NAMES.map((name) => this.parts[name]);
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
    for (const name of this.options.fixedPorts ?? []) {
      const reason = await whyTaken(this.options.ports?.[name] ?? 0);
      if (reason) throw new Error(`${reason}: choose another, or leave the choice to us`);
    }
    const { signal } = this.options;
    signal?.addEventListener('abort', () => this.aborted.abort(), { once: true });
    const { postgres, temporal, api, worker } = this.parts;
    // Neither is left alone half started if the other fails.
    const first = await Promise.allSettled([this.startPart(postgres), this.startPart(temporal)]);
    for (const outcome of first) if (outcome.status === 'rejected') throw outcome.reason;
    this.found = await censusOf(this.addresses.databaseUrl ?? '');
    await this.startPart(api);
    await this.startPart(worker);
    this.record();
    for (const part of this.order) part.watch(() => this.record(), this.fail);
    this.housekeeping = setInterval(() => this.keepHouse(), HOUSEKEEPING_MS);
  }

  private keepHouse(): void {
    if (this.lock.isHeld) boundLogs(this.paths.logs);
    else this.fail(new Error(`${this.paths.dir} was removed, or taken by another start`));
  }

  private async startPart(part: Part): Promise<void> {
    this.options.signal?.throwIfAborted();
    await part.start();
    this.record();
    this.options.signal?.throwIfAborted();
  }

  private record(): void {
    const parts = Object.entries(this.pids).map(([name, pid]) => ({ name, ...identify(pid) }));
    const { apiUrl: url, temporalUiUrl, temporalAddress, databaseUrl } = this.addresses;
    const postgresPort = databaseUrl === undefined ? undefined : Number(new URL(databaseUrl).port);
    this.lock.record({ parts, url, temporalUiUrl, temporalAddress, postgresPort });
  }

  /** Stops everything in reverse order, and then the jobs that ran on this machine. Can be called again. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  private async stopAll(): Promise<void> {
    this.aborted.abort();
    clearInterval(this.housekeeping);
    await Promise.all(this.order.map((part) => part.unwatch()));
    for (const part of this.order.reverse()) {
      try {
        await part.stop();
      } catch (error) {
        this.options.say(`  ${part.name} did not stop as it should: ${error instanceof Error ? error.message : error}`);
      }
      if (part === this.parts.worker && this.lock.isHeld) await this.endJobs();
    }
    this.lock.release();
  }

  private async endJobs(): Promise<void> {
    // One that somebody started beside ours would take what we do to its jobs for their own end.
    for (const other of partsOn(this.paths).filter(({ name }) => name === 'worker')) {
      this.options.say(`  ending another worker (pid ${other.pid})`);
      await endProcess(other, 'SIGTERM', OTHERS_WITHIN_MS);
    }
    const jobs = await endLocalJobs(this.paths.state);
    if (jobs > 0) this.options.say(`  ${jobsCutShort(jobs)}`);
  }
}

export function jobsCutShort(jobs: number): string {
  const [what, whose] = jobs === 1 ? ['1 running job was', 'its case'] : [`${jobs} running jobs were`, 'their cases'];
  return `${what} cut short: the next start tries ${whose} again`;
}
