import { existsSync, statfsSync } from 'node:fs';
import type { AttemptFailure } from '../../contracts/attempt.js';
import type { AllocationEvent } from '../backend.js';
import { pause } from '../pause.js';
import { isAlive, type ProcessId, type ProcessTable, sinceStartMs } from './local.process.js';
import type { StartedWrapper } from './local.starter.js';
import { isOfEarlierBoot, type JobPaths, readExitStatus, readWrapper } from './local.state.js';

/** How long a wrapper that another worker started may take to claim its directory and say who it is. */
const CLAIM_WAIT_MS = 5_000;
/** How long the helpers of a wrapper that was killed may take to write what they hold. */
const DRAIN_WAIT_MS = 500;
const DRAIN_PAUSE_MS = 25;
/** With less than this free no result can be written. */
const FULL_BYTES = 64 * 1_024;

interface Job {
  name: string;
  paths: JobPaths;
  bootId: string;
  processes: ProcessTable;
  /** Absent if another process started the wrapper. */
  started: StartedWrapper | undefined;
}

/** Whether a job's wrapper still runs, and what its end means. */
export class WrapperLife {
  private readonly since = performance.now();
  private wrapper: ProcessId | undefined;
  /** Its processes went on after its directory was gone: they are who took it away. */
  private ranWithoutDirectory = false;

  constructor(private readonly job: Job) {}

  /** Since its start, by the clock of the host that counts from its boot; since following began, if that is unknown. */
  get ageMs(): number {
    const { name, paths } = this.job;
    this.wrapper ??= readWrapper(paths, name);
    const followedMs = performance.now() - this.since;
    return this.wrapper ? Math.max(followedMs, sinceStartMs(this.wrapper)) : followedMs;
  }

  async isRunning(): Promise<boolean> {
    const { name, paths, bootId, processes, started } = this.job;
    if (!existsSync(paths.dir)) {
      await this.lookWithoutDirectory();
      return false;
    }
    if (isOfEarlierBoot(paths, bootId)) return false;
    // Kept, as a job may delete the file.
    this.wrapper ??= readWrapper(paths, name);
    if (this.wrapper) return isAlive(this.wrapper);
    if (started && started.end === undefined) return true;
    // Ours may have ended because another worker's has claimed the directory, and is about to say who it is.
    if (started && !existsSync(paths.claim)) return false;
    return performance.now() - this.since < CLAIM_WAIT_MS || (await processes.of(name, undefined)).length > 0;
  }

  /** Waits, within bounds, until nobody is left who writes for a wrapper that has ended. */
  async drained(signal: AbortSignal): Promise<void> {
    const { name, processes } = this.job;
    const until = performance.now() + DRAIN_WAIT_MS;
    while (performance.now() < until && (await processes.of(name, this.wrapper)).length > 0) {
      await pause(DRAIN_PAUSE_MS, signal);
    }
  }

  /** To be called when files of the job are gone, before `end`. */
  async lookWithoutDirectory(): Promise<void> {
    const { name, processes } = this.job;
    this.ranWithoutDirectory = (await processes.of(name, this.wrapper)).length > 0;
  }

  /** What an end without a record means; `fault`: why what the job printed in place of one is none. */
  end(fault?: string): AllocationEvent {
    const { name, paths, bootId, started } = this.job;
    if (this.ranWithoutDirectory) return { kind: 'silent', detail: 'the job took its own files away' };
    if (!existsSync(paths.dir)) {
      return failed('ALLOCATION_LOST', `the state directory of ${name} is gone`);
    }
    if (isDiskFull(paths.dir)) {
      return failed('RESULT_LOST', `${name} could write no result: the disk of its host is full`);
    }
    const status = readExitStatus(paths);
    if (status !== undefined) return endOfProgram(status, fault);
    if (isOfEarlierBoot(paths, bootId)) {
      return failed('NODE_LOST', `the host was restarted while ${name} ran`);
    }
    const isOwn = !this.wrapper || this.wrapper.pid === started?.pid;
    const how = (isOwn && started?.end) || 'is gone';
    if (!existsSync(paths.claim) && !this.wrapper) {
      return failed('PLATFORM_ERROR', `the wrapper of ${name} ${how} before it started anything`);
    }
    return { kind: 'silent', detail: `the job's wrapper ${how}` };
  }
}

const failed = (code: AttemptFailure['code'], message: string): AllocationEvent => ({
  kind: 'failed',
  failure: { code, message },
});

/** What a shell says of a program that is not there, or is none. */
const NOT_FOUND: Record<number, string> = { 126: 'cannot be executed', 127: 'was not found' };

function endOfProgram(status: number, fault: string | undefined): AllocationEvent {
  if (fault) return failed('BAD_RECORD', `the record that the entrypoint printed is none: ${fault}`);
  const why = NOT_FOUND[status];
  if (why) return failed('COMMAND_NOT_FOUND', `exit code ${status}: the entrypoint ${why}`);
  return { kind: 'silent', detail: `the entrypoint ended with exit code ${status}` };
}

function isDiskFull(dir: string): boolean {
  const { bavail, bsize, files, ffree } = statfsSync(dir);
  return bavail * bsize < FULL_BYTES || (files > 0 && ffree === 0);
}
