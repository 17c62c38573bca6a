import { WorkQueue } from './fake-queue.js';
import { usedOf } from './fake-quota.js';
import type { FakeStore } from './fake-store.js';

/** Writes down what of each quota is used. */
export class QuotaKeeper {
  private readonly queue: WorkQueue;

  constructor(store: FakeStore, quotaMs: number) {
    this.queue = new WorkQueue((namespace) => {
      for (const quota of store.list('resourcequotas', namespace)) {
        store.update('resourcequotas', namespace, quota.metadata.name, (copy) => {
          copy.status = { hard: quota.spec.hard, used: usedOf(store, quota) };
        });
      }
    }, quotaMs);
    store.onChange(({ kind, object }) => {
      if (kind !== 'events') this.queue.add(object.metadata.namespace ?? '');
    });
  }

  close(): void {
    this.queue.close();
  }
}
