import type { AllocationEvent, Backend, LogStream, Watch } from '../backends/backend.js';
import type { AttemptEnd } from '../contracts/attempt.js';
import type { JobSettings } from '../policy/job-parts.js';
import { lifeLimit } from '../policy/life-limit.js';
import { maskedRecord } from '../policy/masked-record.js';
import { USAGE_LIMIT } from '../policy/payload.js';
import { cutRecord } from '../policy/record.js';
import type { SecretMask } from '../policy/redact.js';
import type { AttemptStore } from '../store/attempt.store.js';
import type { Attempt } from '../store/attempt-row.js';
import type { LogStore } from '../store/log.store.js';
import type { RunJob } from '../store/run.store.js';
import { type CollectInput, failed } from './attempt.js';
import { refOf } from './attempt-address.js';
import type { EndedAttempts } from './ended-attempts.js';
import { keptBytes, LogKeeper } from './log-keeper.js';

export interface FollowerDeps {
  settings: JobSettings;
  attempts: Pick<AttemptStore, 'noteWaiting' | 'notePlaced' | 'noteMark' | 'recordEnd'>;
  logs: Pick<LogStore, 'append' | 'replace'>;
  ended: Pick<EndedAttempts, 'keep'>;
  /** Kept of each stream of an attempt. */
  logBytes: number;
}

/** Where following is, as the heartbeat tells it: offsets in what the job wrote, and when the cluster was last heard of. */
export interface Progress extends Record<LogStream, number> {
  /** By the clock `now`. */
  reachedAt: number;
  /** The cluster confirmed its job. */
  isSubmitted?: boolean;
  /** Why the cluster does not start it. */
  waiting?: string;
  now(): number;
}

export interface Following extends Pick<Watch, 'from' | 'signal'> {
  backend: Backend;
  /** Hides the secrets of the job. */
  mask: SecretMask;
}

/** Of what a cluster says of a job. */
const MOST_WORDS = 2_000;

const inShort = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, MOST_WORDS);

/** Its text goes into rows and histories, and a cluster may have had a part in it. */
const brief = (end: Extract<AllocationEvent, { kind: 'silent' | 'failed' }>): AttemptEnd =>
  end.kind === 'silent'
    ? { kind: 'silent', detail: inShort(end.detail) }
    : { kind: 'failed', failure: { code: end.failure.code, message: inShort(end.failure.message) } };

/** Follows a job that exists: keeps what it prints, notes where it is, and stores its end. */
export class AttemptFollower {
  constructor(private readonly deps: FollowerDeps) {}

  /**
   * To the end, but not for ever: a program has no timer of its own, and a wrapper may have been stopped. Nothing is
   * returned if the signal aborts before.
   */
  async follow(
    attempt: Attempt,
    { case: evalCase, harness }: RunJob,
    { mask, backend, ...watch }: Following,
    progress: Progress,
  ): Promise<AttemptEnd | undefined> {
    const { runId, attempt: number } = attempt;
    const { logs, logBytes, settings } = this.deps;
    const limit = lifeLimit(evalCase, harness, settings.timers);
    const keeper = new LogKeeper({ logs, runId, attempt: number, limitBytes: logBytes, mask });
    const reached = (): void => {
      progress.reachedAt = progress.now();
    };
    try {
      const watched = { ...watch, reached, keep: keptBytes(logBytes), limitMs: limit.ms };
      for await (const event of backend.watch(refOf(attempt), watched)) {
        reached();
        switch (event.kind) {
          case 'log':
            progress[event.stream] = event.at + event.bytes.length;
            await keeper.take(event.stream, event.at, event.bytes);
            break;
          case 'corrected':
            await keeper.correct(event.stream, event.pieces);
            break;
          case 'mark':
            // What it stands for is stored first.
            await keeper.flush();
            await this.deps.attempts.noteMark(runId, number, { at: event.at, mark: event.mark });
            break;
          case 'waiting':
          case 'placed':
            await this.note(attempt, event, mask, progress);
            break;
          case 'overdue':
            await keeper.end();
            // Recorded before anything is stopped, so that a crash in between finds a time-out, and no lost job.
            return await this.ended(attempt, failed('TIMEOUT', limit.reason(event.afterMs)));
          case 'record':
            await keeper.end();
            return await this.recorded(attempt, event, mask);
          case 'silent':
          case 'failed':
            await keeper.end();
            return await this.ended(attempt, brief(mask.json(event)));
        }
      }
    } finally {
      await keeper.flush();
    }
    return undefined;
  }

  private async note(
    { runId, attempt }: CollectInput,
    event: Extract<AllocationEvent, { kind: 'waiting' | 'placed' }>,
    mask: SecretMask,
    progress: Progress,
  ): Promise<void> {
    if (event.kind === 'waiting') {
      progress.waiting = event.detail && inShort(mask.text(event.detail));
      return this.deps.attempts.noteWaiting(runId, attempt, progress.waiting);
    }
    progress.waiting = undefined;
    return this.deps.attempts.notePlaced(runId, attempt, { as: event.as, provenance: mask.json(event.provenance) });
  }

  private async recorded(
    attempt: Attempt,
    event: Extract<AllocationEvent, { kind: 'record' }>,
    mask: SecretMask,
  ): Promise<AttemptEnd> {
    const end: AttemptEnd = { kind: 'record' };
    const limits = { answerLimit: this.deps.settings.answerLimit, usageLimit: USAGE_LIMIT };
    const record = maskedRecord(cutRecord(event.record, limits), mask);
    await this.deps.attempts.recordEnd(attempt.runId, attempt.attempt, end, record);
    this.deps.ended.keep({ ...attempt, end, record });
    return end;
  }

  private async ended({ runId, attempt }: CollectInput, end: AttemptEnd): Promise<AttemptEnd> {
    await this.deps.attempts.recordEnd(runId, attempt, end);
    return end;
  }
}
