import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AllocationEvent, AllocationRef, Backend, Job } from '../backends/backend.js';
import { LocalBackend } from '../backends/local/local.backend.js';
import { readLocalHost } from '../backends/local/local.host.js';
import { type ProcessId, ProcessTable } from '../backends/local/local.process.js';
import type { JobSettings } from '../policy/job-parts.js';
import { jobPayload } from '../policy/job-payload.js';
import type { JobRecord } from '../policy/record.js';
import { aCase, aHarness } from './builders.js';

const ENVIRONMENT = { path: '/usr/local/bin:/usr/bin:/bin', lang: 'C.UTF-8' };

/** What every job of a test is given: the real wrapper, and short timers. */
export const SETTINGS: JobSettings = {
  wrapper: readFileSync(new URL('../wrapper/wrapper.sh', import.meta.url), 'utf8'),
  timers: { setupSec: 2, graderSec: 30, graceSec: 1, lingerSec: 60 },
  answerLimit: 262_144,
  payloadLimit: 524_288,
};

/** A job that runs one command. */
export function aLocalJob(command: string): Job {
  const harness = aHarness({ command });
  return {
    payload: jobPayload({ runId: 'run_1', case: aCase({ timeoutSec: 30 }), harness, params: {} }, SETTINGS),
    resources: {},
    lifeMs: 60_000,
    owner: {
      ...{ deployment: 'everdict', workspaceId: 'default', runId: 'run_1', caseId: 'a', attempt: 1 },
      expiresAt: Date.now() + 3_600_000,
    },
  };
}

/** A state directory of its own, the worker processes that share it, and what they left running. */
export class LocalSite {
  private counter = 0;

  private constructor(readonly stateDir: string) {}

  static async open(): Promise<LocalSite> {
    return new LocalSite(await mkdtemp(join(tmpdir(), 'everdict-local-')));
  }

  /** What a worker process of this host has; another call is another process. */
  async worker({
    graceMs = 1_000,
    isAllowed = true,
    bootId = '',
    stateDir = this.stateDir,
  } = {}): Promise<LocalBackend> {
    const host = await readLocalHost(this.stateDir);
    return new LocalBackend({
      isAllowed,
      stateDir,
      host: bootId ? { ...host, bootId } : host,
      environment: ENVIRONMENT,
      graceMs,
    });
  }

  allocation(): AllocationRef {
    this.counter += 1;
    return {
      name: `test-${process.pid}-${this.stateDir.slice(-6).toLowerCase()}-${this.counter}`,
      nonce: 'c0ffee00c0ffee00',
    };
  }

  /** Pids of everything that runs for the allocation: by its marker, and in the group of its wrapper if given. */
  async processesOf({ name }: AllocationRef, wrapper?: ProcessId): Promise<number[]> {
    return (await new ProcessTable().of(name, wrapper)).map(({ pid }) => pid);
  }

  async close(): Promise<void> {
    const worker = await this.worker({ graceMs: 0 });
    const names = await readdir(join(this.stateDir, 'jobs')).catch(() => []);
    await Promise.all(names.map((name) => worker.stop({ name, nonce: '' })));
    await rm(this.stateDir, { recursive: true, force: true });
  }
}

export interface Watched {
  stdout: Buffer;
  stderr: Buffer;
  last: AllocationEvent | undefined;
  record: JobRecord | undefined;
}

/** Follows to the end and keeps everything. */
export async function watchToEnd(backend: Backend, allocation: AllocationRef, signal?: AbortSignal): Promise<Watched> {
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let last: AllocationEvent | undefined;
  const watch = {
    from: { stdout: 0, stderr: 0 },
    signal: signal ?? new AbortController().signal,
    limitMs: Number.POSITIVE_INFINITY,
  };
  for await (const event of backend.watch(allocation, watch)) {
    if (event.kind === 'log') kept[event.stream].push(Buffer.from(event.bytes));
    else last = event;
  }
  const record = last?.kind === 'record' ? last.record : undefined;
  return { stdout: Buffer.concat(kept.stdout), stderr: Buffer.concat(kept.stderr), last, record };
}
