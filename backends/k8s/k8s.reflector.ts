import { setMaxListeners } from 'node:events';
import type { ClusterListener } from '../answered-clock.js';
import { ClusterFailure } from '../cluster-client.js';
import { networkFailure } from '../cluster-failures.js';
import { pause } from '../pause.js';
import { K8sRefusal } from './k8s.failures.js';
import { Entry, type Followed, Follower, type Side } from './k8s.followed.js';
import { selectorOf } from './k8s.labels.js';
import type { K8sLink } from './k8s.link.js';
import { FollowedKeeper } from './k8s.list-keeper.js';
import { jobPath, jobsPath, podsPath } from './k8s.paths.js';
import { K8sJob, Pod } from './k8s.replies.js';
import { WatchedList } from './k8s.watched-list.js';

export interface ReflectorPace {
  /** How long the API server keeps a watch open. */
  watchSec: number;
  /** And for how long after that silence is no sign of a connection that died. */
  marginMs: number;
  /** After the last follower has left, until nothing is watched any more. */
  lingerMs: number;
  /** A cluster that fails for less is not yet said to. */
  troubleMs: number;
}

const PACE: ReflectorPace = { watchSec: 15, marginMs: 5_000, lingerMs: 5_000, troubleMs: 4_000 };

const REREAD_MS = 2_000;

/**
 * What a cluster has of the allocations of a deployment that are followed here: two watches, of jobs and of pods,
 * however many are followed. Of others nothing is kept. An allocation that is first followed while these are under way
 * is read by itself, once.
 */
export class K8sReflector {
  private readonly entries = new Map<string, Entry>();
  private watches: Watches | undefined;
  private ending: NodeJS.Timeout | undefined;

  constructor(
    private readonly link: K8sLink,
    private readonly deployment: string,
    private readonly pace: ReflectorPace = PACE,
  ) {}

  follow(name: string, listener?: ClusterListener): Followed {
    clearTimeout(this.ending);
    const known = this.entries.get(name);
    const entry = known ?? new Entry(name);
    const leave = (): void => this.left(entry);
    // Before anything is asked for: what comes from then on is kept.
    this.entries.set(name, entry);
    const watches = this.watches ?? new Watches(this.link, this.deployment, this.pace, this.entries);
    this.watches = watches;
    const follower = new Follower(entry, {
      ...{ failure: () => watches.failure, heard: () => watches.heard, leave },
      ...(listener && { listener }),
    });
    if (!known) watches.cover(entry);
    return follower;
  }

  /** Ends both watches at once. */
  close(): void {
    clearTimeout(this.ending);
    this.watches?.stop();
    this.watches = undefined;
    for (const entry of this.entries.values()) entry.wake();
    this.entries.clear();
  }

  private left(entry: Entry): void {
    if (entry.isFollowed || this.entries.get(entry.name) !== entry) return;
    this.entries.delete(entry.name);
    if (this.entries.size > 0) return;
    this.ending = setTimeout(() => {
      this.watches?.stop();
      this.watches = undefined;
    }, this.pace.lingerMs);
    this.ending.unref();
  }
}

/** Both watches, from when they were begun until they are stopped. */
class Watches {
  private readonly ended = new AbortController();
  private readonly keepers: Record<Side, FollowedKeeper>;

  constructor(
    private readonly link: K8sLink,
    private readonly deployment: string,
    { watchSec, marginMs, troubleMs }: ReflectorPace,
    entries: ReadonlyMap<string, Entry>,
  ) {
    const { signal } = this.ended;
    // Many reads may wait for it.
    setMaxListeners(0, signal);
    const labelSelector = selectorOf(deployment);
    const keeperOf = (side: Side) =>
      new FollowedKeeper(side, entries, troubleMs, (entry) => void this.read(side, entry));
    this.keepers = { jobs: keeperOf('jobs'), pods: keeperOf('pods') };
    const options = { link, labelSelector, watchSec, marginMs, signal };
    void new WatchedList({ ...options, pathIn: jobsPath, keeper: this.keepers.jobs }).run();
    void new WatchedList({ ...options, pathIn: podsPath, keeper: this.keepers.pods }).run();
  }

  get failure(): ClusterFailure | undefined {
    if (this.ended.signal.aborted) return new ClusterFailure('unreachable', 'its connections were closed');
    return this.keepers.jobs.failure ?? this.keepers.pods.failure;
  }

  get heard(): number {
    return this.keepers.jobs.heard + this.keepers.pods.heard;
  }

  stop(): void {
    this.ended.abort();
  }

  /** Where a list is under way, the next one or a read after this one finds it. */
  cover(entry: Entry): void {
    for (const side of ['jobs', 'pods'] as const) if (this.keepers[side].isWatching) void this.read(side, entry);
  }

  /** What is read before a list began is no news once that is through: it has the same, or newer. */
  private async read(side: Side, entry: Entry): Promise<void> {
    const { signal } = this.ended;
    const keeper = this.keepers[side];
    const { generation } = keeper;
    while (entry.isFollowed && !signal.aborted && keeper.generation === generation) {
      try {
        const give = side === 'jobs' ? await this.readJob(entry) : await this.readPods(entry);
        if (keeper.generation === generation) give();
        return;
      } catch (error) {
        entry.failed(networkFailure(error));
        await pause(REREAD_MS, signal);
      }
    }
  }

  private async readJob(entry: Entry): Promise<() => void> {
    const { signal } = this.ended;
    const { client, namespace } = await this.link.connect(signal);
    try {
      const job = await client.get(jobPath(namespace, entry.name), K8sJob, { signal });
      return () => entry.readJob(job);
    } catch (error) {
      if (error instanceof K8sRefusal && error.isAbsence) return () => entry.readJob(undefined);
      throw error;
    }
  }

  private async readPods(entry: Entry): Promise<() => void> {
    const { signal } = this.ended;
    const { client, namespace } = await this.link.connect(signal);
    const labelSelector = selectorOf(this.deployment, entry.name);
    const { items } = await client.list(podsPath(namespace), Pod, { labelSelector, signal });
    return () => entry.readPods(items);
  }
}
