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
  /** Counts the answers. */
  heard = 0;
  /** Why nothing is known. */
  failure: ClusterFailure | undefined;
  private failingSince: number | undefined;
  /** Those that the list under way covers, and what it has of them. */
  private covered = new Set<Entry>();
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
    this.covered = new Set(this.entries.values());
    this.uids = new Set();
  }

  listed(object: unknown): void {
    const entry = this.entryOf(object);
    if (!entry) return;
    const uid = this.give(entry, object);
    if (uid !== undefined) this.uids.add(uid);
    else this.covered.delete(entry);
  }

  synced(): void {
    this.isWatching = true;
    for (const entry of this.covered) {
      entry.keepOnly(this.side, this.uids);
      entry.sawAll(this.side);
    }
    this.covered.clear();
    for (const entry of this.entries.values()) if (!entry.knows(this.side)) this.uncovered(entry);
  }

  changed({ type, object }: Change): void {
    const entry = this.entryOf(object);
    if (entry) this.give(entry, object, type === 'DELETED');
  }

  answered(): void {
    this.heard += 1;
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

  /** One that cannot be read is told to those that follow it alone. */
  private give(entry: Entry, object: unknown, isDeleted = false): string | undefined {
    const uid = this.side === 'jobs' ? giveJob(entry, object, isDeleted) : givePod(entry, object, isDeleted);
    if (uid === undefined) entry.failed(unreadableFailure());
    else entry.told.add(uid);
    return uid;
  }
}

function giveJob(entry: Entry, object: unknown, isDeleted: boolean): string | undefined {
  const job = K8sJob.safeParse(object).data;
  if (!job) return undefined;
  const { uid } = job.metadata;
  if (isDeleted) entry.lostJob(uid);
  else entry.sawJob(job);
  return uid;
}

function givePod(entry: Entry, object: unknown, isDeleted: boolean): string | undefined {
  const pod = Pod.safeParse(object).data;
  if (!pod) return undefined;
  entry.sawPod({ ...pod, ...(isDeleted && { deleted: true as const }) });
  return pod.metadata.uid;
}
