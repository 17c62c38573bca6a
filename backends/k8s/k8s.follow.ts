import { isDeepStrictEqual } from 'node:util';
import type { JobRecord } from '../../policy/record.js';
import type { AllocationEvent } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';
import { ageOf, badRecord } from '../following.js';
import { Inbox } from '../inbox.js';
import type { LogEnd, LogPatience } from '../log-reading.js';
import { pause } from '../pause.js';
import { endOf, type LogStanding } from './k8s.end.js';
import { hasStarted, mainOf } from './k8s.evidence.js';
import type { JobView } from './k8s.followed.js';
import type { LogRead } from './k8s.log.js';
import { readEvents, readPods, removeOthers } from './k8s.lookups.js';
import { JobOutput } from './k8s.output.js';
import { type Placed, placedEvent } from './k8s.placing.js';
import type { Pod } from './k8s.replies.js';
import { choosePod, lastWord, mayRun } from './k8s.status.js';
import type { Watching } from './k8s.watch.js';

/** Whatever comes first: of the log, of the cluster, or the time. */
type News =
  | { kind: 'read'; read: LogRead }
  /** No more is read in this way. */
  | { kind: 'closed' }
  | { kind: 'view'; view: JobView }
  | { kind: 'quiet' }
  | { kind: 'left' };

/** How long the log of what runs may be out of reach, or gone, and how long a removal may take, by the clock. */
const PATIENCE_MS = 120_000;
/** Unless something changes, the time is looked at. */
const LOOK_MS = 10_000;
const SHORTEST_LOOK_MS = 250;
/** A job that never stops printing is overdue so much later than one that is read to its end. */
const OVERDUE_GRACE_MS = 60_000;
/** What has ended prints nothing more: a stream that says nothing for so long then has nothing left. */
const QUIET_MS = 2_000;
/** With the record in hand: how long the rest is looked for, which a job that goes on printing does not hold up. */
const CLOSING_MS = 10_000;
const CLOSING: LogPatience = { firstMs: 250, longestMs: 1_000, tries: 4 };

/** Follows what a pod prints until its record, or until it ended. */
export class LogFollower {
  private readonly output: JobOutput;
  private readonly inbox = new Inbox<News>();
  private readonly reading = new AbortController();
  /** Nobody listens here any more. */
  private readonly leaving = new AbortController();
  private readonly stream: AsyncGenerator<LogRead>;
  private isClosed = false;
  private readonly begunAt = performance.now();
  private readAt = performance.now();
  private readonly ageMs: number;
  /** Since when there is no log to read, by the clock, and why. */
  private trouble: { sinceMs: number; text: string } | undefined;
  /** Since when it is being removed, by the clock. */
  private removedAt: number | undefined;

  constructor(
    private readonly watching: Watching,
    private placed: Placed,
  ) {
    this.output = new JobOutput(watching, placed.pod.metadata.name, startOf(placed.pod));
    this.stream = this.output.follow(this.reading.signal);
    this.ageMs = ageOf(startOf(placed.pod), watching.allocation.submittedAt);
  }

  async *follow(): AsyncGenerator<AllocationEvent> {
    const { signal } = this.watching;
    const leave = (): void => {
      this.reading.abort();
      this.leaving.abort();
      this.inbox.put(Promise.resolve({ kind: 'left' }));
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      this.readOn();
      this.look();
      while (!signal.aborted && this.isWorthWaiting()) {
        yield* this.hear(await this.inbox.take());
        if (this.output.record) return yield* this.closed(this.output.record);
        if (this.isOverdue()) return yield* this.overdue();
      }
      if (!signal.aborted) yield* this.ended();
    } finally {
      this.reading.abort();
      this.leaving.abort();
      signal.removeEventListener('abort', leave);
    }
  }

  private get afterMs(): number {
    return this.ageMs + performance.now() - this.begunAt;
  }

  private readOn(): void {
    const next = this.stream.next();
    this.inbox.put(next.then((part) => (part.done ? { kind: 'closed' } : { kind: 'read', read: part.value })));
  }

  private look(): void {
    const { followed, limitMs } = this.watching;
    const { signal } = this.leaving;
    const afterMs = Math.max(SHORTEST_LOOK_MS, Math.min(LOOK_MS, limitMs - this.afterMs));
    this.inbox.put(followed.next({ signal, afterMs }).then((view) => ({ kind: 'view', view })));
  }

  private async *hear(news: News): AsyncGenerator<AllocationEvent> {
    switch (news.kind) {
      case 'read':
        this.note(news.read);
        yield* this.output.told(news.read);
        return this.readOn();
      case 'closed':
        this.isClosed = true;
        return undefined;
      case 'view':
        yield* this.see(news.view);
        return this.look();
      case 'quiet':
      case 'left':
        return undefined;
    }
  }

  private note(read: LogRead): void {
    const { clock } = this.watching;
    if (read.kind === 'gone' || read.kind === 'unreachable') {
      this.trouble = { sinceMs: this.trouble?.sinceMs ?? clock.assumedMs, text: read.text };
      return;
    }
    this.trouble = undefined;
    if (read.kind === 'bytes' && read.bytes.length > 0) this.readAt = performance.now();
  }

  private async *see(view: JobView): AsyncGenerator<AllocationEvent> {
    const before = this.placed;
    const { pod = { ...before.pod, deleted: true }, others } = choosePod(view.pods, before.pod.metadata.uid);
    this.placed = { pod: lastWord(before.pod, pod), others, ...(view.job && { job: view.job }) };
    if (pod.metadata.deletionTimestamp !== undefined) this.removedAt ??= this.watching.clock.assumedMs;
    await removeOthers(this.watching, this.placed);
    const news = placedEvent(this.placed);
    if (!isDeepStrictEqual(news, placedEvent(before))) yield news;
  }

  /** A log that stays away, and a removal that does not come to its end, are of a node that is lost. */
  private isWorthWaiting(): boolean {
    const { clock } = this.watching;
    const since = [this.trouble?.sinceMs, this.removedAt];
    if (since.some((ms) => ms !== undefined && clock.assumedMs - ms > PATIENCE_MS)) return false;
    return mayRun(this.placed.pod);
  }

  private isOverdue(): boolean {
    const lateMs = this.afterMs - this.watching.limitMs;
    const isQuiet = performance.now() - this.readAt >= QUIET_MS;
    return lateMs >= 0 && !this.trouble && (isQuiet || lateMs >= OVERDUE_GRACE_MS);
  }

  /** The rest of the stream: a log that is read anew may lack what its node threw away since. */
  private async *drained(quietMs = QUIET_MS): AsyncGenerator<AllocationEvent> {
    const { signal } = this.watching;
    this.output.isLast = true;
    const setTimer = (ms: number): void =>
      this.inbox.put(pause(ms, this.leaving.signal).then(() => ({ kind: 'quiet' })));
    this.readAt = performance.now();
    setTimer(quietMs);
    while (!this.isClosed && !signal.aborted) {
      const news = await this.inbox.take();
      yield* this.hear(news);
      if (news.kind !== 'quiet') continue;
      const leftMs = quietMs - (performance.now() - this.readAt);
      if (leftMs <= 0) this.reading.abort();
      else setTimer(leftMs);
    }
  }

  /** By a look of its own: a stream that says nothing may be one that is dead. */
  private async *overdue(): AsyncGenerator<AllocationEvent> {
    const { afterMs } = this;
    yield* this.drained(0);
    const out = yield* this.output.finished(this.watching.signal, CLOSING);
    if (this.output.record) return yield* this.closed(this.output.record);
    const isRead = out.kind === 'complete' || out.kind === 'short';
    if (!isRead || !mayRun(this.placed.pod)) return yield* this.ended();
    yield* this.output.rest();
    yield { kind: 'overdue', afterMs };
  }

  /** The record stands whatever becomes of the pod now: what else was printed is read while it lingers. */
  private async *closed(record: JobRecord): AsyncGenerator<AllocationEvent> {
    const { signal } = this.watching;
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const timer = setTimeout(end, CLOSING_MS);
    signal.addEventListener('abort', end, { once: true });
    try {
      yield* this.drained(0);
      const out = yield* this.output.finished(ending.signal, CLOSING);
      yield* this.lacks(isVerified(out));
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
    const lacks = [...(this.output.isHeadCut ? ['head cut'] : []), ...(isVerified ? [] : ['unverified'])];
    if (lacks.length > 0) yield placedEvent(this.placed, { log: lacks.join(', ') });
  }

  /** Its end is known: what its log still has is read, before anything else, for its node may throw it away. */
  private async *ended(): AsyncGenerator<AllocationEvent> {
    const { signal } = this.watching;
    const { output } = this;
    yield* this.drained();
    let out = yield* output.finished(signal);
    if (out.kind === 'unreachable') {
      // Where all of Kubernetes is, this throws. Where it is back, so may the log be.
      await readPods(this.watching);
      out = yield* output.finished(signal);
    }
    if (output.record) return yield* this.closed(output.record);
    yield* output.rest();
    yield* this.lacks(isVerified(out));
    const log = this.standingOf(out);
    const { pod, job } = this.placed;
    const { fault } = output;
    const text = 'text' in out ? out.text : fault && `the record in it is none: ${fault}`;
    const end = endOf({
      ...{ pod, log, placedAs: pod.metadata.uid },
      ...(job && { job }),
      ...(text && { logText: text }),
      events: await readEvents(this.watching, { job, podUid: pod.metadata.uid }),
    });
    yield end.kind === 'silent' && fault !== undefined ? badRecord(fault, true) : end;
  }

  private standingOf(end: LogEnd): LogStanding {
    switch (end.kind) {
      case 'complete':
        return end.isVerified && !this.output.isHeadCut ? 'complete' : 'unverified';
      case 'not-started':
        return hasStarted(this.placed.pod) ? 'gone' : 'complete';
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
function startOf(pod: Pod): number | undefined {
  const { running, terminated } = mainOf(pod)?.state ?? {};
  return Date.parse((running ?? terminated)?.startedAt ?? '') || undefined;
}
