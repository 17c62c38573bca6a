import { Admission } from './fake-admission.js';
import { EventRecorder } from './fake-events.js';
import { Evictions } from './fake-evictions.js';
import { GarbageCollector } from './fake-garbage.js';
import { JobController } from './fake-jobs.js';
import { FakeLedger } from './fake-ledger.js';
import { aNode, type Machine } from './fake-machines.js';
import { NodeLife } from './fake-node-life.js';
import { FAST, type Pace } from './fake-pace.js';
import { QuotaKeeper } from './fake-quota-keeper.js';
import { Scheduler } from './fake-scheduler.js';
import { FakeStore } from './fake-store.js';
import { Watches, type WatchOptions } from './fake-watch.js';

export interface ClusterOptions extends WatchOptions {
  /** What pods are placed on: one with much room if absent. */
  nodes?: readonly Machine[];
  /** Besides `default`. */
  namespaces?: readonly string[];
  runtimeClasses?: readonly string[];
  /** So many changes are known to watches that come back. */
  historyLimit?: number;
  pace?: Partial<Pace>;
}

/** What runs behind the API. */
export class FakeCluster {
  readonly store: FakeStore;
  readonly ledger: FakeLedger;
  readonly admission: Admission;
  readonly watches: Watches;
  readonly evictions: Evictions;
  readonly events: EventRecorder;
  readonly scheduler: Scheduler;
  readonly nodes: NodeLife;
  private readonly closing: readonly { close(): void }[];

  constructor(options: ClusterOptions = {}) {
    const pace = { ...FAST, ...options.pace };
    this.store = new FakeStore(options.historyLimit);
    const { store } = this;
    this.ledger = new FakeLedger(store);
    this.admission = new Admission(store);
    this.watches = new Watches(store, options);
    this.evictions = new Evictions(store);
    this.events = new EventRecorder(store);
    this.scheduler = new Scheduler(store, this.events, pace.scheduleMs);
    this.nodes = new NodeLife(store, this.events, pace);
    const jobs = new JobController({ store, admission: this.admission, events: this.events, pace });
    const garbage = new GarbageCollector(store, pace.collectMs);
    const quotas = new QuotaKeeper(store, pace.quotaMs);
    this.closing = [this.scheduler, this.nodes, jobs, garbage, quotas];
    this.fill(options);
  }

  /** Nothing happens by itself any more. */
  close(): void {
    for (const each of this.closing) each.close();
  }

  private fill({ nodes = [{ name: 'node-1' }], namespaces = [], runtimeClasses = [] }: ClusterOptions): void {
    for (const name of ['default', ...namespaces]) {
      this.store.create('namespaces', '', { metadata: { name }, status: { phase: 'Active' } });
    }
    for (const name of runtimeClasses) this.store.create('runtimeclasses', '', { metadata: { name } });
    for (const machine of nodes) this.store.create('nodes', '', aNode(machine));
  }
}
