import type { AttemptFailure } from '../../contracts/attempt.js';
import { envelopeOf } from '../../policy/demand.js';
import type { AllocationEvent } from '../backend.js';
import { oneLine } from '../cluster-text.js';
import { pause } from '../pause.js';
import { placementTimeout, startTimeout } from '../start-timeouts.js';
import { gcAdvice } from './nomad.end.js';
import { NomadRefusal } from './nomad.failures.js';
import { isInNone } from './nomad.nodes.js';
import { allocationPath, allocationsPath, evaluationsPath } from './nomad.paths.js';
import { undecided, waitingOf } from './nomad.placement.js';
import { pullTroubleOf } from './nomad.pull.js';
import { JobAllocation, JobAllocations, JobEvaluations, Nodes } from './nomad.replies.js';
import { startProgressOf } from './nomad.start.js';
import { type Choice, chooseAllocation, provenanceOf, standingOf } from './nomad.status.js';
import { readJob } from './nomad.submit.js';
import type { Watching } from './nomad.watch.js';

/** The allocation that counts, and the others of its job. */
export interface Placed extends Choice {
  allocation: JobAllocation;
}

/** A job that starts sooner has not waited. */
const SOON_MS = 1_500;
/** Looks that follow each other at once: most jobs are placed by then. A list may change all the time, and this job not. */
const PROMPT_LOOKS = 3;
/** For a job that Nomad has not decided on, until it is looked at again. */
const UNDECIDED_SEC = 1;

const failed = (code: AttemptFailure['code'], message: string): AllocationEvent => ({
  kind: 'failed',
  failure: { code, message },
});

/** Waits until the allocation of a job has begun. */
export class JobPlacing {
  private placedAs: string | undefined;
  private said: string | undefined;
  private isDead = false;
  /** By the clock, in each state. */
  private queuedMs = 0;
  private blockedMs = 0;
  private pendingMs = 0;
  private pullErrorMs = 0;
  /** Nothing is decided here for so long, unless the allocations change. */
  private waitSec = UNDECIDED_SEC;

  constructor(private readonly watching: Watching) {
    this.placedAs = watching.allocation.placedAs;
  }

  /** What runs, or has ended. Nothing if its end was said instead. */
  async *begun(): AsyncGenerator<AllocationEvent, Placed | undefined> {
    const { client, clock, signal, allocation, pace, reached } = this.watching;
    for (let looks = 1, index: number | undefined, before = 0; !signal.aborted; looks += 1) {
      const begunAt = performance.now();
      const answer = await client.next(allocationsPath(allocation.name), JobAllocations, {
        ...{ index, waitSec: this.waitSec, pauseMs: pace(), listener: clock, signal },
      });
      index = answer.index;
      const choice = chooseAllocation(answer.reply, this.placedAs);
      const chosen = choice.allocation ?? (await this.unlisted());
      const passedMs = clock.ms - before;
      before = clock.ms;
      if (chosen) {
        const placed = { ...choice, allocation: chosen };
        const wasPlaced = this.placedAs === chosen.ID;
        if (!wasPlaced) yield placedEvent(placed);
        this.placedAs = chosen.ID;
        if (standingOf(chosen) !== 'pending') {
          if (this.said !== undefined || wasPlaced) yield { kind: 'waiting' };
          return placed;
        }
      }
      const end = chosen ? yield* this.pending(chosen, passedMs) : yield* this.unplaced(passedMs);
      // Once all that was asked for was answered: a part of it would do for ever.
      reached?.();
      if (!end) {
        if (looks > PROMPT_LOOKS) await pause(pace() - (performance.now() - begunAt), signal);
        continue;
      }
      yield end;
      return undefined;
    }
    return undefined;
  }

  /** The allocation that was noted, where the list of its job has it no more. */
  private async unlisted(): Promise<JobAllocation | undefined> {
    return this.placedAs === undefined ? undefined : findAllocation(this.watching, this.placedAs);
  }

  private async *unplaced(passedMs: number): AsyncGenerator<AllocationEvent, AllocationEvent | undefined> {
    const { client, clock, signal, allocation, spec, patience } = this.watching;
    if (this.placedAs !== undefined) {
      const known = `Nomad no longer knows its allocation ${this.placedAs}`;
      return failed('RESULT_LOST', `${known}: ${gcAdvice(envelopeOf(spec, 1).slots)}`);
    }
    const evaluations = await client.read(evaluationsPath(allocation.name), JobEvaluations, {
      signal,
      listener: clock,
    });
    const waiting = waitingOf({ Datacenters: spec.datacenters }, evaluations);
    if (waiting) {
      yield* this.say(waiting.detail);
      this.blockedMs += passedMs;
      const patienceMs = spec.placementPatienceSec * 1_000;
      this.waitSec = (patienceMs - this.blockedMs) / 1_000;
      return this.blockedMs < patienceMs ? undefined : this.notPlaced(waiting.detail, spec.placementPatienceSec);
    }
    if (this.said !== undefined) {
      this.said = undefined;
      yield { kind: 'waiting' };
    }
    this.waitSec = UNDECIDED_SEC;
    this.queuedMs += passedMs;
    if (this.queuedMs >= patience.startMs) return { kind: 'failed', failure: undecided(patience.startMs / 1_000) };
    return this.endIfDead();
  }

  /** A job that is over without an allocation, also by the next look: it may have had one just before. */
  private async endIfDead(): Promise<AllocationEvent | undefined> {
    const { client, signal, allocation } = this.watching;
    const job = await readJob(client, allocation.name, signal);
    if (job && job.Status !== 'dead') return undefined;
    if (!this.isDead) {
      this.isDead = true;
      return undefined;
    }
    const why = job ? (job.Stop ? 'was stopped' : 'is over') : 'is gone';
    return failed('ALLOCATION_LOST', `job ${allocation.name} ${why} in Nomad, and has no allocation`);
  }

  private async notPlaced(detail: string, afterSec: number): Promise<AllocationEvent> {
    const { client, signal, spec } = this.watching;
    const failure = placementTimeout(detail, afterSec);
    // A token may be good for jobs and not for nodes.
    const nodes = await client.get('/v1/nodes', Nodes, { signal }).catch(() => []);
    if (!isInNone(spec, nodes)) return { kind: 'failed', failure };
    const there = [...new Set(nodes.map(({ Datacenter }) => oneLine(Datacenter)))].sort().slice(0, 5).join(', ');
    const message = `\`datacenters\`: no node is in ${spec.datacenters.join(', ')}; there are ${there}; ${failure.message}`;
    return failed('BAD_SPEC', message);
  }

  private async *pending(
    allocation: JobAllocation,
    passedMs: number,
  ): AsyncGenerator<AllocationEvent, AllocationEvent | undefined> {
    const { patience } = this.watching;
    this.pendingMs += passedMs;
    const trouble = pullTroubleOf(allocation);
    if (trouble) {
      if (trouble.isFinal) return failed('IMAGE_UNAVAILABLE', trouble.text);
      if (this.pullErrorMs >= patience.pullErrorMs) return failed('IMAGE_PULL_FAILED', trouble.text);
      this.pullErrorMs += passedMs;
    }
    if (this.pendingMs >= patience.startMs) {
      return { kind: 'failed', failure: startTimeout(startProgressOf(allocation), patience.startMs / 1_000) };
    }
    if (this.pendingMs >= SOON_MS) yield* this.say(trouble?.text ?? startProgressOf(allocation));
    const leftMs = patience.startMs - this.pendingMs;
    const errorLeftMs = trouble ? patience.pullErrorMs - this.pullErrorMs : leftMs;
    this.waitSec = Math.min(leftMs, errorLeftMs, this.pendingMs < SOON_MS ? SOON_MS : leftMs) / 1_000;
    return undefined;
  }

  private *say(detail: string): Generator<AllocationEvent> {
    if (detail === this.said) return;
    this.said = detail;
    yield { kind: 'waiting', detail };
  }
}

export function placedEvent(placed: Placed, more: Record<string, unknown> = {}): AllocationEvent {
  return { kind: 'placed', as: placed.allocation.ID, provenance: { ...provenanceOf(placed), ...more } };
}

/** An allocation by its id; nothing where Nomad says that there is none. */
export async function findAllocation(
  { client, clock, signal }: Watching,
  id: string,
): Promise<JobAllocation | undefined> {
  try {
    return await client.read(allocationPath(id), JobAllocation, { signal, listener: clock });
  } catch (error) {
    if (error instanceof NomadRefusal && error.isAbsence) return undefined;
    throw error;
  }
}
