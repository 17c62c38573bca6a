import { isDeepStrictEqual } from 'node:util';
import type { AttemptFailure } from '../../contracts/attempt.js';
import type { AllocationEvent } from '../backend.js';
import { pause } from '../pause.js';
import { placementTimeout, startTimeout } from '../start-timeouts.js';
import { type Events, needsEvents } from './k8s.events.js';
import type { JobView } from './k8s.followed.js';
import { goneOf, isOver } from './k8s.gone.js';
import { readEvents, readPods, removeOthers } from './k8s.lookups.js';
import { pullFailureOf, pullTroubleOf } from './k8s.pull.js';
import type { K8sJob, SeenPod } from './k8s.replies.js';
import { lacksObject } from './k8s.start.js';
import { type Choice, choosePod, provenanceOf, standingOf } from './k8s.status.js';
import { readJob } from './k8s.submit.js';
import { type Unbegun, type Waiting, waitingOf } from './k8s.waiting.js';
import type { Watching } from './k8s.watch.js';

/** The pod that counts, the others of its job, and the job. */
export interface Placed extends Choice {
  pod: SeenPod;
  job?: K8sJob;
}

/** A job that starts sooner has not waited. */
const SOON_MS = 1_500;
/** Between two looks at events, of which nothing tells: longer each time. */
const LONGEST_LOOK_MS = 30_000;
const LOOK_GROWTH = 2;
/** What replaces an object that a pod needs has done so by then, and its node has tried again. */
const LACK_MS = 20_000;
/** What a call of its own tells, the watches tell in a moment. */
const LAG_MS = 250;

const failed = (failure: AttemptFailure): AllocationEvent => ({ kind: 'failed', failure });

/** Waits until the pod of a job has begun. */
export class JobPlacing {
  private said: string | undefined;
  private told: AllocationEvent | undefined;
  /** Uid of the first pod that was seen. */
  private chosen: string | undefined;
  private isPlaced: boolean;
  /** By the clock, in each state. */
  private unplacedMs = 0;
  private pendingMs = 0;
  /** Since an image could not be pulled. Absent: nothing keeps it away. */
  private pullErrorMs: number | undefined;
  /** By the clock, since an object was first missed. */
  private lackMs: number | undefined;
  private events: Events = [];
  /** By the clock, since events were last read, and when they are read again. */
  private unreadMs = 0;
  private lookMs = SOON_MS;

  constructor(private readonly watching: Watching) {
    this.chosen = watching.allocation.placedAs;
    this.isPlaced = this.chosen !== undefined;
  }

  /** What runs, or has ended. Nothing if its end was said instead. */
  async *begun(): AsyncGenerator<AllocationEvent, Placed | undefined> {
    const { followed, signal, clock } = this.watching;
    for (let before = 0; !signal.aborted; ) {
      const view = await followed.next({ signal, afterMs: this.dueMs() });
      const nowMs = clock.assumedMs;
      const passedMs = nowMs - before;
      before = nowMs;
      const placed = await this.placedIn(view);
      if (placed && standingOf(placed.pod) !== 'pending') {
        const hasWaited = this.said !== undefined || this.watching.allocation.placedAs !== undefined;
        if (!(yield* this.tell(placed)) && hasWaited) yield { kind: 'waiting' };
        return placed;
      }
      const end = placed ? yield* this.unstarted(placed, passedMs) : yield* this.unmade(view, passedMs);
      if (!end) continue;
      yield end;
      return undefined;
    }
    return undefined;
  }

  private async placedIn({ job, pods }: JobView): Promise<Placed | undefined> {
    const choice = choosePod(pods, this.chosen, job);
    await removeOthers(this.watching, choice);
    const { pod, others } = choice;
    if (!pod) return undefined;
    this.chosen = pod.metadata.uid;
    return { pod, others, ...(job && { job }) };
  }

  private async *unstarted(
    placed: Placed,
    passedMs: number,
  ): AsyncGenerator<AllocationEvent, AllocationEvent | undefined> {
    const { pod } = placed;
    if (!this.isPlaced && pod.spec.nodeName !== undefined) {
      this.isPlaced = true;
      this.watchAnew();
    }
    if (this.isPlaced && this.pendingMs + passedMs >= SOON_MS) yield* this.tell(placed);
    // Also of a Job that was deleted: it may have left its pod to itself.
    const end = yield* this.waits(placed, passedMs);
    return end && (await this.isStill(pod)) ? end : undefined;
  }

  private async *unmade(
    { job }: JobView,
    passedMs: number,
  ): AsyncGenerator<AllocationEvent, AllocationEvent | undefined> {
    const { client, namespace, allocation, signal } = this.watching;
    const { chosen: placedAs } = this;
    if (placedAs === undefined && job && !isOver(job)) {
      const end = yield* this.waits({ job }, passedMs);
      return end && (await this.isStill(undefined)) ? end : undefined;
    }
    // Jobs and pods are told of apart, and what is said of one may be older.
    const [known, pods] = await Promise.all([
      readJob(client, namespace, allocation.name, signal),
      readPods(this.watching),
    ]);
    const isThere = choosePod(pods, placedAs, known).pod !== undefined;
    if (isThere || (placedAs === undefined && known && !isOver(known))) {
      await pause(LAG_MS, signal);
      return undefined;
    }
    const events = await readEvents(this.watching, { job: known, podUid: placedAs });
    return failed(goneOf({ ...(known && { job: known }), events, ...(placedAs !== undefined && { placedAs }) }));
  }

  /** Until a pod has a node this is for the cluster to decide; after that a start is due. */
  private async *waits(
    waited: Unbegun,
    passedMs: number,
  ): AsyncGenerator<AllocationEvent, AllocationEvent | undefined> {
    const { job, pod } = waited;
    this.unreadMs += passedMs;
    if (this.unreadMs >= this.lookMs) {
      if (needsEvents({ pod })) this.events = await readEvents(this.watching, { job, podUid: pod?.metadata.uid });
      this.unreadMs = 0;
      this.lookMs = Math.min(LONGEST_LOOK_MS, this.lookMs * LOOK_GROWTH);
    }
    const waiting = waitingOf({ ...waited, events: this.events });
    if (this.isPlaced) this.pendingMs += passedMs;
    else this.unplacedMs += passedMs;
    if (this.waitedMs >= SOON_MS) yield* this.say(waiting.detail);
    const failure = this.lasting(waiting, pod, passedMs) ?? this.pullFailure(pod, passedMs) ?? this.lateness(waiting);
    return failure && failed(failure);
  }

  private lasting({ failure }: Waiting, pod: SeenPod | undefined, passedMs: number): AttemptFailure | undefined {
    if (!pod || !lacksObject(pod)) this.lackMs = undefined;
    else this.lackMs = this.lackMs === undefined ? 0 : this.lackMs + passedMs;
    return this.lackMs !== undefined && this.lackMs < LACK_MS ? undefined : failure;
  }

  private pullFailure(pod: SeenPod | undefined, passedMs: number): AttemptFailure | undefined {
    const trouble = pod && pullTroubleOf(pod);
    if (!trouble) {
      this.pullErrorMs = undefined;
      return undefined;
    }
    // What passed before the first error is none of it.
    this.pullErrorMs = this.pullErrorMs === undefined ? 0 : this.pullErrorMs + passedMs;
    return this.pullErrorMs >= this.watching.patience.pullErrorMs ? pullFailureOf(trouble) : undefined;
  }

  private lateness({ detail }: Waiting): AttemptFailure | undefined {
    if (this.waitedMs < this.patienceMs) return undefined;
    const afterSec = this.patienceMs / 1_000;
    return this.isPlaced ? startTimeout(detail, afterSec) : placementTimeout(detail, afterSec);
  }

  /** By a call of its own: a watch that says nothing may be one that is dead. */
  private async isStill(pod: SeenPod | undefined): Promise<boolean> {
    const { pod: now } = choosePod(await readPods(this.watching), pod?.metadata.uid);
    const isSame = now ? pod !== undefined && standingOf(now) === 'pending' : pod === undefined;
    if (!isSame) await pause(LAG_MS, this.watching.signal);
    return isSame;
  }

  private get waitedMs(): number {
    return this.isPlaced ? this.pendingMs : this.unplacedMs;
  }

  private get patienceMs(): number {
    const { spec, patience } = this.watching;
    return this.isPlaced ? patience.startMs : spec.placementPatienceSec * 1_000;
  }

  /** What is read next is of another object. */
  private watchAnew(): void {
    this.events = [];
    this.unreadMs = 0;
    this.lookMs = SOON_MS;
  }

  /** Until something is due here, unless something changes. */
  private dueMs(): number {
    const { pullErrorMs } = this.watching.patience;
    const due = [this.patienceMs - this.waitedMs, this.lookMs - this.unreadMs];
    if (this.waitedMs < SOON_MS) due.push(SOON_MS - this.waitedMs);
    if (this.pullErrorMs !== undefined) due.push(pullErrorMs - this.pullErrorMs);
    if (this.lackMs !== undefined) due.push(LACK_MS - this.lackMs);
    return Math.max(LAG_MS, Math.min(...due));
  }

  /** What is known of where it is, if that is news. */
  private *tell(placed: Placed): Generator<AllocationEvent, boolean> {
    const event = placedEvent(placed);
    if (isDeepStrictEqual(event, this.told)) return false;
    this.told = event;
    this.said = undefined;
    yield event;
    return true;
  }

  private *say(detail: string): Generator<AllocationEvent> {
    if (detail === this.said) return;
    this.said = detail;
    yield { kind: 'waiting', detail };
  }
}

export function placedEvent(placed: Placed, more: Record<string, unknown> = {}): AllocationEvent {
  return { kind: 'placed', as: placed.pod.metadata.uid, provenance: { ...provenanceOf(placed), ...more } };
}
