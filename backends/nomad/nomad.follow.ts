import { isDeepStrictEqual } from 'node:util';
import type { AttemptFailure } from '../../contracts/attempt.js';
import { envelopeOf } from '../../policy/demand.js';
import type { AllocationEvent, LogStream } from '../backend.js';
import { pause } from '../pause.js';
import { logged, ScannedOutput } from '../scanned-output.js';
import { endOf, type LogStanding } from './nomad.end.js';
import { hasStarted } from './nomad.evidence.js';
import { LOG_FILE_MB, NOMAD_TASK } from './nomad.job.js';
import { type LogRead, NomadLogTail } from './nomad.log.js';
import { allocationsPath } from './nomad.paths.js';
import { findAllocation, type Placed, placedEvent } from './nomad.placing.js';
import { JobAllocations } from './nomad.replies.js';
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
/** The log of what has ended is asked for so often, where there is no way to it now. */
const MOST_LAST_LOOKS = 6;
const LAST_PAUSE_MS = 125;
const LONGEST_LAST_PAUSE_MS = 2_000;
/** A job that never stops printing is overdue so much later than one that is read to its end. */
const OVERDUE_GRACE_MS = 60_000;
/** What stderr has when the record is there; a job that goes on printing does not hold it up. */
const MOST_DRAINS = 32;
const FILE_BYTES = LOG_FILE_MB * 1_024 * 1_024;

/** Follows what an allocation prints until its record, or until it ended. */
export class LogFollower {
  private readonly stdout: NomadLogTail;
  private readonly stderr: NomadLogTail;
  private readonly scanned: ScannedOutput;
  private readonly begunAt = performance.now();
  private readonly ageMs: number;
  /** Since when there is no log to read, by the clock, and why. */
  private trouble: { sinceMs: number; text: string } | undefined;
  private hasRecord = false;

  constructor(
    private readonly watching: Watching,
    private placed: Placed,
  ) {
    const { allocation, from } = watching;
    this.stdout = this.tail('stdout');
    this.stderr = this.tail('stderr');
    this.scanned = new ScannedOutput(allocation.nonce, from.stdout);
    this.ageMs = ageOf(placed, allocation.submittedAt);
  }

  async *follow(): AsyncGenerator<AllocationEvent> {
    const { signal, pace, clock, limitMs } = this.watching;
    let pauseMs = pace() * FIRST_PAUSE_PART;
    for (let looks = 1; !signal.aborted && mayRun(this.placed.allocation); looks += 1) {
      const out = await this.look(this.stdout);
      yield* this.taken(out);
      if (this.hasRecord) return;
      if (looks % LOOKS_A_STDERR === 0) yield* piece('stderr', await this.look(this.stderr));
      const isAtEnd = out.kind !== 'bytes' || out.bytes.length === 0;
      if (this.trouble && clock.ms - this.trouble.sinceMs > LOG_PATIENCE_MS) break;
      const afterMs = this.ageMs + performance.now() - this.begunAt;
      const isOverdue = afterMs >= limitMs && (isAtEnd || afterMs >= limitMs + OVERDUE_GRACE_MS);
      if (isOverdue || out.kind === 'gone' || looks % LOOKS_A_STATUS === 0) {
        if (!(yield* this.lookAtStatus())) break;
        if (isOverdue && mayRun(this.placed.allocation)) {
          yield { kind: 'overdue', afterMs };
          return;
        }
      }
      if (!isAtEnd) continue;
      await pause(Math.min(pauseMs, pace()), signal);
      pauseMs *= PAUSE_GROWTH;
    }
    if (!signal.aborted) yield* this.ended();
  }

  private tail(stream: LogStream): NomadLogTail {
    const { client, from, keep } = this.watching;
    const { ID } = this.placed.allocation;
    return new NomadLogTail({
      ...{ client, allocation: ID, task: NOMAD_TASK, stream, from: from[stream], fileBytes: FILE_BYTES },
      ...(keep && { keep }),
    });
  }

  private async look(tail: NomadLogTail): Promise<LogRead> {
    const { client, clock, signal } = this.watching;
    const read = await client.patiently(signal, clock, () => tail.next(signal));
    if (read.kind === 'bytes' || read.kind === 'not-started') this.trouble = undefined;
    else this.trouble = { sinceMs: this.trouble?.sinceMs ?? clock.ms, text: read.text };
    return read;
  }

  /** What stdout had. With the record, what stderr has by then comes before it. */
  private async *taken(read: LogRead): AsyncGenerator<AllocationEvent> {
    if (read.kind !== 'bytes' || read.bytes.length === 0) return;
    const { plain, record } = this.scanned.take(read);
    yield* logged(plain);
    if (!record) return;
    this.hasRecord = true;
    yield* this.drained();
    yield { kind: 'record', record };
  }

  /** The record stands whatever becomes of the allocation now. */
  private async *drained(): AsyncGenerator<AllocationEvent> {
    for (let drains = 0; drains < MOST_DRAINS; drains += 1) {
      const read = await this.stderr.next(this.watching.signal).catch(() => undefined);
      if (read?.kind !== 'bytes' || read.bytes.length === 0) return;
      yield* piece('stderr', read);
    }
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
    let last = LAST_LOOK;
    for (let looks = 0; looks < MOST_LAST_LOOKS && !last.isSettled; ) {
      const read = await this.look(this.stdout);
      yield* this.taken(read);
      if (this.hasRecord) return;
      if (read.kind === 'bytes' && read.bytes.length > 0) continue;
      last = await this.lastLook(read);
      looks += 1;
      if (!last.isSettled) await pause(Math.min(LONGEST_LAST_PAUSE_MS, LAST_PAUSE_MS * 2 ** looks), signal);
      if (signal.aborted) return;
    }
    yield* this.drained();
    yield* logged(this.scanned.end());
    yield* this.lookAtStatus();
    const end = endOf({
      allocation: this.placed.allocation,
      log: last.standing,
      ...(this.trouble && { logText: this.trouble.text }),
      maxConcurrent: envelopeOf(spec, 1).slots,
      driver: spec.driver,
    });
    const { fault } = this.scanned;
    yield end.kind === 'silent' && fault !== undefined
      ? badRecord(fault, last.standing === 'complete' && !this.stdout.isHeadCut)
      : end;
  }

  private async lastLook(read: LogRead): Promise<LastLook> {
    const { client, clock, signal } = this.watching;
    switch (read.kind) {
      case 'bytes': {
        const found = await client.patiently(signal, clock, () => this.stdout.verify(signal));
        return { standing: VERIFIED[found], isSettled: found !== 'short' };
      }
      case 'not-started':
        return { standing: hasStarted(this.placed.allocation) ? 'gone' : 'complete', isSettled: true };
      case 'gone':
        return { standing: 'gone', isSettled: true };
      case 'unreachable':
        return LAST_LOOK;
    }
  }
}

interface LastLook {
  standing: LogStanding;
  /** Another look finds nothing else. */
  isSettled: boolean;
}

const LAST_LOOK: LastLook = { standing: 'unreachable', isSettled: false };
const VERIFIED = { whole: 'complete', unknown: 'unverified', short: 'short' } as const;

function* piece(stream: LogStream, read: LogRead): Generator<AllocationEvent> {
  if (read.kind === 'bytes' && read.bytes.length > 0) yield { kind: 'log', stream, at: read.at, bytes: read.bytes };
}

/** What a job with the right nonce printed in place of a record; a log that may be short is to blame before that. */
function badRecord(fault: string, isWhole: boolean): AllocationEvent {
  const failure: AttemptFailure = isWhole
    ? { code: 'BAD_RECORD', message: `the record that it printed is none: ${fault}` }
    : { code: 'RESULT_LOST', message: `its log may be short, and the record in it is none: ${fault}` };
  return { kind: 'failed', failure };
}

/**
 * How long it had run when it was first seen here, ms. A node's clock may be wrong: nothing started before it was
 * submitted, and what was submitted just now has just started.
 */
function ageOf({ allocation }: Placed, submittedAt: number | undefined): number {
  const startedAt = Math.max(
    ...Object.values(allocation.TaskStates).map(({ StartedAt }) => Date.parse(StartedAt) || 0),
    0,
  );
  if (submittedAt === undefined || startedAt === 0) return 0;
  return Math.max(0, Date.now() - Math.max(startedAt, submittedAt));
}
