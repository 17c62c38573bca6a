import type { ClusterFailure } from '../cluster-client.js';
import { isPassing, unreadableFailure } from './k8s.failures.js';
import type { Entry, Side } from './k8s.followed.js';
import { ALLOCATION_LABEL } from './k8s.labels.js';
import { K8sJob, Named, Pod } from './k8s.replies.js';
import type { Change } from './k8s.watch-stream.js';
import type { ListKeeper } from './k8s.watched-list.js';

/**
 * Hands what a watched list says to the allocations that are followed, and drops the rest unread. One that is followed
 * from the middle of a list on is not told apart from one that has nothing: it is `uncovered`, and read by itself.
 */
export class FollowedKeeper implements ListKeeper {
  /** Of the lists that were begun. */
  generation = 0;
  /** Once listed it is watched: whatever happens from then on is told. */
  isWatching = false;
  /** Why nothing is known. */
  failure: ClusterFailure | undefined;
  private failingSince: number | undefined;
  /** Those that the list under way covers, and what it has of them. */
  private covered: Entry[] = [];
  private uids = new Set<string>();

  constructor(
    private readonly side: Side,
    private readonly entries: ReadonlyMap<string, Entry>,
    private readonly troubleMs: number,
    private readonly uncovered: (entry: Entry) => void,
  ) {}

  listing(): void {
    this.generation += 1;
    this.isWatching = false;
    this.covered = [...this.entries.values()];
    this.uids = new Set();
  }

  listed(object: unknown): void {
    const entry = this.entryOf(object);
    if (entry) this.uids.add(this.give(entry, object));
  }

  synced(): void {
    this.isWatching = true;
    for (const entry of this.covered) {
      entry.keepOnly(this.side, this.uids);
      entry.sawAll(this.side);
    }
    this.covered = [];
    for (const entry of this.entries.values()) if (!entry.knows(this.side)) this.uncovered(entry);
  }

  changed({ type, object }: Change): void {
    const entry = this.entryOf(object);
    if (entry) this.give(entry, object, type === 'DELETED');
  }

  answered(): void {
    this.failingSince = undefined;
    this.failure = undefined;
  }

  failed(failure: ClusterFailure): void {
    const now = performance.now();
    this.failingSince ??= now;
    for (const entry of this.entries.values()) entry.unanswered();
    if (isPassing(failure) && now - this.failingSince < this.troubleMs) return;
    this.failure = failure;
    for (const entry of this.entries.values()) entry.wake();
  }

  private entryOf(object: unknown): Entry | undefined {
    const name = Named.safeParse(object).data?.metadata.labels?.[ALLOCATION_LABEL];
    return name === undefined ? undefined : this.entries.get(name);
  }

  private give(entry: Entry, object: unknown, isDeleted = false): string {
    const uid = this.side === 'jobs' ? giveJob(entry, object, isDeleted) : givePod(entry, object, isDeleted);
    entry.told.add(uid);
    return uid;
  }
}

function giveJob(entry: Entry, object: unknown, isDeleted: boolean): string {
  const job = K8sJob.safeParse(object).data;
  if (!job) throw unreadableFailure();
  entry.sawJob(isDeleted ? undefined : job);
  return job.metadata.uid;
}

function givePod(entry: Entry, object: unknown, isDeleted: boolean): string {
  const pod = Pod.safeParse(object).data;
  if (!pod) throw unreadableFailure();
  entry.sawPod({ ...pod, ...(isDeleted && { deleted: true as const }) });
  return pod.metadata.uid;
}
