import type { Logger } from '@temporalio/worker';
import type { Backend } from '../backends/backend.js';
import type { BackendResolver, RuntimeTarget } from '../backends/resolver.js';
import { within } from '../backends/time-limit.js';
import { PlatformError } from '../contracts/errors.js';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { SweepStore } from '../store/sweep.store.js';
import type { Leftovers } from './leftovers.js';
import { onCluster } from './on-cluster.js';

interface Deps {
  backends: Pick<BackendResolver, 'use'>;
  sweep: Pick<SweepStore, 'clusters'>;
  leftovers: Pick<Leftovers, 'of'>;
  deployment: string;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Told of every cluster that was not looked at. */
  skipped(kind: RuntimeKind, code: string): void;
}

/** Clusters that are looked at side by side, and jobs of one that are stopped so. */
const AT_ONCE = 8;
/** For one cluster; and for all, after which no other is begun. The activity has a minute. */
const CLUSTER_MS = 15_000;
const ALL_MS = 30_000;

/**
 * Removes jobs of this deployment that nobody needs from the clusters of registered runtimes. A workspace's runtime
 * removes what is that workspace's alone; a shared one, what is on it of anybody. One cluster holds up no other: what it
 * has left is met by the next sweep.
 */
export class ClusterLeftovers {
  /** Where the list of a cluster goes on, by runtime: one that is long takes several sweeps. */
  private readonly reached = new Map<string, string>();

  constructor(private readonly deps: Deps) {}

  /** Returns how many were removed. */
  async remove(kind: RuntimeKind): Promise<number> {
    const until = performance.now() + ALL_MS;
    let removed = 0;
    // In another order each time, so that those that come late are first some day.
    await sideBySide(shuffled(await this.deps.sweep.clusters(kind)), async (target) => {
      if (performance.now() < until) removed += await this.removeOf(target);
    });
    return removed;
  }

  private async removeOf(target: RuntimeTarget): Promise<number> {
    const { id, version, kind } = target.spec;
    let removed = 0;
    const until = performance.now() + CLUSTER_MS;
    const isOver = (): boolean => performance.now() > until;
    const work = onCluster(this.deps.backends, target, ({ backend }) =>
      this.eachLeftover(backend, target, isOver, async (name) => {
        await backend.stop({ name, nonce: '' });
        this.deps.log.info('a leftover was removed', { runtime: `${id}@${version}`, allocation: name });
        removed += 1;
      }),
    );
    const late = () => new PlatformError('CLUSTER_UNREACHABLE', `it took longer than ${CLUSTER_MS / 1_000} s`);
    try {
      await within(CLUSTER_MS, work, late);
    } catch (error) {
      const code = error instanceof PlatformError ? error.code : 'INTERNAL';
      const { message } = error as Error;
      this.deps.log.warn('leftovers of a cluster are left for the next sweep', {
        runtime: `${id}@${version}`,
        code,
        message,
      });
      this.deps.skipped(kind, code);
    }
    return removed;
  }

  /** Page by page, from where an earlier sweep came to: what is found is worked on before the next page is asked for. */
  private async eachLeftover(
    backend: Backend,
    { owner, spec: { id, version } }: RuntimeTarget,
    isOver: () => boolean,
    work: (name: string) => Promise<void>,
  ): Promise<void> {
    const key = `${owner}/${id}@${version}`;
    while (!isOver()) {
      const from = this.reached.get(key);
      // What fails here is begun anew.
      this.reached.delete(key);
      const { allocations, next } = await backend.list(this.deps.deployment, from);
      if (next !== undefined) this.reached.set(key, next);
      const own = allocations.filter(({ workspaceId }) => owner === SHARED_WORKSPACE || workspaceId === owner);
      await sideBySide(await this.deps.leftovers.of(own), async (name) => {
        if (!isOver()) await work(name);
      });
      if (next === undefined) return;
    }
  }
}

/** A few at a time. What fails holds up no other, and the first failure is thrown at the end. */
async function sideBySide<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  let failure: { error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    for (const item of left) {
      await work(item).catch((error: unknown) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (failure) throw failure.error;
}

const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
