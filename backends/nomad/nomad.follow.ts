import { isDeepStrictEqual } from 'node:util';
import { envelopeOf } from '../../policy/demand.js';
import type { JobRecord } from '../../policy/record.js';
import type { AllocationEvent } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';
import { ageOf, badRecord } from '../following.js';
import type { LogEnd, LogPatience } from '../log-reading.js';
import { pause } from '../pause.js';
import { endOf, type LogStanding } from './nomad.end.js';
import { hasStarted } from './nomad.evidence.js';
import type { LogRead } from './nomad.log.js';
import { JobOutput } from './nomad.output.js';
import { allocationsPath } from './nomad.paths.js';
import { findAllocation, type Placed, placedEvent } from './nomad.placing.js';
import { type JobAllocation, JobAllocations } from './nomad.replies.js';
import { chooseAllocation, mayRun } from './nomad.status.js';
import type { Watching } from './nomad.watch.js';

/** Looks at the log between two looks at the allocation, and at its stderr. */
const LOOKS_A_STATUS = 4;
const LOOKS_A_STDERR = 2;
/** A job that ends soon is noticed soon: pauses grow up to the pace. */
const FIRST_PAUSE_PART = 0.2;
const PAUSE_GROWTH = 1.5;
/** How long the log of what runs may be out of reach, or gone, by the clock. */
const LOG_PATIENCE_MS = 120_000;
const LONGEST_TROUBLED_MS = 20_000;
/** A job that never stops printing is overdue so much later than one that is read to its end. */
const OVERDUE_GRACE_MS = 60_000;
/** With the record in hand: how long the rest is looked for, which a job that goes on printing does not hold up. */
const CLOSING_MS = 20_000;
const CLOSING: LogPatience = { firstMs: 250, longestMs: 1_000, tries: 4 };

/** Follows what an allocation prints until its record, or until it ended. */
export class LogFollower {
  private readonly output: JobOutput;
  private readonly begunAt = performance.now();
  private readonly ageMs: number;
  /** Since when there is no log to read, by the clock, and why. */
  private trouble: { sinceMs: number; text: string } | undefined;

  constructor(
    private readonly watching: Watching,
    private placed: Placed,
  ) {
    this.output = new JobOutput(watching, placed.allocation.ID);
    this.ageMs = ageOf(startOf(placed.allocation), watching.allocation.submittedAt);
  }

  async *follow(): AsyncGenerator<AllocationEvent> {
    const { signal, pace, clock, limitMs, reached } = this.watching;
    let pauseMs = pace() * FIRST_PAUSE_PART;
    for (let looks = 1; !signal.aborted && mayRun(this.placed.allocation); looks += 1) {
      const out = this.noted(await this.output.look('stdout'));
      yield* this.output.told('stdout', out);
      if (this.output.record) return yield* this.closed(this.output.record);
      if (looks % LOOKS_A_STDERR === 0) {
        yield* this.output.told('stderr', this.noted(await this.output.look('stderr')));
      }
      // A cluster of which only the log is out of reach is none for long.
      if (!this.trouble) reached?.();
      const isAtEnd = out.kind === 'not-started' || (out.kind === 'bytes' && out.bytes.length === 0);
      if (this.trouble && clock.ms - this.trouble.sinceMs > LOG_PATIENCE_MS) break;
      const afterMs = this.ageMs + performance.now() - this.begunAt;
      const isOverdue = afterMs >= limitMs && !this.trouble && (isAtEnd || afterMs >= limitMs + OVERDUE_GRACE_MS);
      if (isOverdue || this.trouble || looks % LOOKS_A_STATUS === 0) {
        if (!(yield* this.lookAtStatus())) break;
        if (isOverdue && mayRun(this.placed.allocation)) {
          yield { kind: 'overdue', afterMs };
          return;
        }
      }
      if (this.output.isFarBehind) continue;
      await pause(this.trouble ? this.troubledMs(this.trouble.sinceMs) : Math.min(pauseMs, pace()), signal);
      pauseMs *= PAUSE_GROWTH;
    }
    if (!signal.aborted) yield* this.ended();
  }

  /** As long again as there was nothing to read: a log that does not answer takes a connection for some seconds each time. */
  private troubledMs(sinceMs: number): number {
    const { clock, pace } = this.watching;
    return Math.min(LONGEST_TROUBLED_MS, Math.max(pace(), clock.ms - sinceMs));
  }

  /** Keeps in mind since when there is nothing to read. */
  private noted(read: LogRead): LogRead {
    const { clock } = this.watching;
    if (read.kind === 'bytes' || read.kind === 'not-started') this.trouble = undefined;
    else this.trouble = { sinceMs: this.trouble?.sinceMs ?? clock.ms, text: read.text };
    return read;
  }

  /** The record stands whatever becomes of the allocation now: what else was printed is read while it lingers. */
  private async *closed(record: JobRecord): AsyncGenerator<AllocationEvent> {
    const { signal } = this.watching;
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const timer = setTimeout(end, CLOSING_MS);
    signal.addEventListener('abort', end, { once: true });
    try {
      const out = yield* this.output.finished('stdout', ending.signal, CLOSING);
      const err = yield* this.output.finished('stderr', ending.signal, CLOSING);
      yield* this.lacks(isVerified(out) && isVerified(err));
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      yield* this.lacks(false);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
    yield* this.output.rest();
    yield { kind: 'record', record };
  }

  /** What is stored of its log is not all of it, or may not be. */
  private *lacks(isVerified: boolean): Generator<AllocationEvent> {
    const lacks = [...(this.output.hasCut ? ['head cut'] : []), ...(isVerified ? [] : ['unverified'])];
    if (lacks.length > 0) yield placedEvent(this.placed, { log: lacks.join(', ') });
  }

  /** False if Nomad knows it no more. */
  private async *lookAtStatus(): AsyncGenerator<AllocationEvent, boolean> {
    const { client, clock, signal, allocation } = this.watching;
    const { ID } = this.placed.allocation;
    const list = await client.read(allocationsPath(allocation.name), JobAllocations, { signal, listener: clock });
    const { allocation: listed, others } = chooseAllocation(list, ID);
    const known = listed ?? (await findAllocation(this.watching, ID));
    const before = this.placed;
    this.placed = { allocation: known ?? before.allocation, others };
    const news = placedEvent(this.placed);
    if (!isDeepStrictEqual(news, placedEvent(before))) yield news;
    return known !== undefined;
  }

  /** Its status is known: what its log still has is read, before anything else, for a client may throw it away. */
  private async *ended(): AsyncGenerator<AllocationEvent> {
    const { signal, spec } = this.watching;
    const { output } = this;
    let out = yield* output.finished('stdout', signal);
    if (out.kind === 'unreachable') {
      // Where all of Nomad was, this throws. Where it is back, so may the log be.
      yield* this.lookAtStatus();
      out = yield* output.finished('stdout', signal);
    }
    if (output.record) return yield* this.closed(output.record);
    const err = yield* output.finished('stderr', signal, CLOSING);
    yield* output.rest();
    yield* this.lookAtStatus();
    yield* this.lacks(isVerified(out) && isVerified(err));
    const log = this.standingOf(out);
    const end = endOf({
      allocation: this.placed.allocation,
      log,
      ...('text' in out && { logText: out.text }),
      maxConcurrent: envelopeOf(spec, 1).slots,
      driver: spec.driver,
    });
    const { fault, isHeadCut } = output;
    yield end.kind === 'silent' && fault !== undefined ? badRecord(fault, log === 'complete' && !isHeadCut) : end;
  }

  private standingOf(end: LogEnd): LogStanding {
    switch (end.kind) {
      case 'complete':
        return end.isVerified ? 'complete' : 'unverified';
      case 'not-started':
        return hasStarted(this.placed.allocation) ? 'gone' : 'complete';
      case 'short':
      case 'gone':
      case 'unreachable':
        return end.kind;
    }
  }
}

/** What never started printed nothing. */
const isVerified = (end: LogEnd): boolean => (end.kind === 'complete' ? end.isVerified : end.kind === 'not-started');

/** Epoch ms; absent where it is not told. */
function startOf({ TaskStates }: JobAllocation): number | undefined {
  return Math.max(...Object.values(TaskStates).map(({ StartedAt }) => Date.parse(StartedAt) || 0), 0) || undefined;
}
