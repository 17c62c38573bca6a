import type { ClusterListener } from '../answered-clock.js';
import type { ClusterFailure } from '../cluster-client.js';
import { networkFailure } from '../cluster-failures.js';
import type { K8sJob, Pod, SeenPod } from './k8s.replies.js';

/** What a cluster has of one allocation. */
export interface JobView {
  job?: K8sJob;
  /** Those that were deleted while it was followed, too. */
  pods: SeenPod[];
}

/** Follows one allocation. */
export interface Followed {
  /**
   * At once, if it has changed since this last answered, and the first time once it is known; else when it changes, or
   * after so long. Rejects with a `ClusterFailure` while the cluster does not answer, and once the signal aborts.
   */
  next(wait: { signal: AbortSignal; afterMs: number }): Promise<JobView>;
  close(): void;
}

export type Side = 'jobs' | 'pods';

/** One allocation that is followed, and by whom. */
export class Entry {
  private job: K8sJob | undefined;
  private readonly pods = new Map<string, SeenPod>();
  /** What is known of it, and not just what has changed. */
  private readonly known = new Set<Side>();
  /** Its own: what is wrong with the cluster is told to all. */
  private failure: ClusterFailure | undefined;
  private readonly followers = new Set<Follower>();
  /** Uids of what a list or a watch has told of it. */
  readonly told = new Set<string>();
  /** Counts its changes. */
  changes = 0;

  constructor(readonly name: string) {}

  get isFollowed(): boolean {
    return this.followers.size > 0;
  }

  get view(): JobView {
    return { ...(this.job && { job: this.job }), pods: [...this.pods.values()] };
  }

  get isKnown(): boolean {
    return this.known.size === 2;
  }

  get trouble(): ClusterFailure | undefined {
    return this.failure;
  }

  add(follower: Follower): void {
    this.followers.add(follower);
  }

  remove(follower: Follower): void {
    this.followers.delete(follower);
  }

  knows(side: Side): boolean {
    return this.known.has(side);
  }

  sawJob(job: K8sJob | undefined): void {
    if (isSame(this.job, job)) return;
    this.job = job;
    this.changed();
  }

  /** That one, and not a later one of its name. */
  lostJob(uid: string): void {
    if (this.job?.metadata.uid === uid) this.sawJob(undefined);
  }

  sawPod(pod: SeenPod): void {
    const known = this.pods.get(pod.metadata.uid);
    if (isSame(known, pod) && known?.deleted === pod.deleted) return;
    this.pods.set(pod.metadata.uid, pod);
    this.changed();
  }

  /** What was read by itself: a watch may have told of it meanwhile, and what a watch tells comes last. */
  readJob(job: K8sJob | undefined): void {
    if (job && !this.told.has(job.metadata.uid)) this.sawJob(job);
    this.sawAll('jobs');
  }

  readPods(pods: readonly Pod[]): void {
    for (const pod of pods) if (!this.told.has(pod.metadata.uid)) this.sawPod(pod);
    this.sawAll('pods');
  }

  /** All that there is of a kind was seen. */
  sawAll(side: Side): void {
    this.failure = undefined;
    if (this.known.has(side)) return;
    this.known.add(side);
    this.changed();
  }

  /** What is not among these, and was before a list began, is gone. */
  keepOnly(side: Side, uids: ReadonlySet<string>): void {
    if (side === 'jobs' && this.job && !uids.has(this.job.metadata.uid)) this.sawJob(undefined);
    if (side === 'pods') {
      for (const [uid, pod] of this.pods) if (!uids.has(uid)) this.sawPod({ ...pod, deleted: true });
    }
  }

  failed(failure: ClusterFailure): void {
    this.failure = failure;
    this.wake();
  }

  /** Of the cluster, to all that ask. */
  unanswered(): void {
    for (const follower of this.followers) follower.listener?.failed();
  }

  wake(): void {
    for (const follower of this.followers) follower.wake();
  }

  private changed(): void {
    this.changes += 1;
    this.wake();
  }
}

const isSame = (a: K8sJob | SeenPod | undefined, b: K8sJob | SeenPod | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    a.metadata.uid === b?.metadata.uid &&
    a.metadata.resourceVersion !== undefined &&
    a.metadata.resourceVersion === b.metadata.resourceVersion);

interface Ways {
  /** Why nothing is known of the cluster now. */
  failure(): ClusterFailure | undefined;
  /** Counts what was heard of the cluster. */
  heard(): number;
  leave(): void;
  listener?: ClusterListener;
}

export class Follower implements Followed {
  private told = -1;
  private heard = -1;
  private waiting: (() => void) | undefined;

  constructor(
    private readonly entry: Entry,
    private readonly ways: Ways,
  ) {
    entry.add(this);
  }

  get listener(): ClusterListener | undefined {
    return this.ways.listener;
  }

  async next({ signal, afterMs }: { signal: AbortSignal; afterMs: number }): Promise<JobView> {
    const until = performance.now() + afterMs;
    for (;;) {
      if (signal.aborted) throw networkFailure(signal.reason, signal);
      const { entry } = this;
      const failure = this.ways.failure() ?? entry.trouble;
      if (failure) throw failure;
      const leftMs = until - performance.now();
      if (entry.isKnown && (this.told < entry.changes || leftMs <= 0)) {
        this.answered();
        return entry.view;
      }
      await this.woken(entry.isKnown ? leftMs : undefined, signal);
    }
  }

  wake(): void {
    this.waiting?.();
  }

  close(): void {
    this.entry.remove(this);
    this.ways.leave();
  }

  /** What is known, told again, is no answer of the cluster. */
  private answered(): void {
    const { changes } = this.entry;
    const heard = this.ways.heard();
    if (this.told < changes || this.heard < heard) this.listener?.answered();
    this.told = changes;
    this.heard = heard;
  }

  private woken(afterMs: number | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.waiting = undefined;
        resolve();
      };
      const timer = afterMs === undefined ? undefined : setTimeout(wake, afterMs);
      signal.addEventListener('abort', wake, { once: true });
      this.waiting = wake;
    });
  }
}
