import { Admission } from './fake-admission.js';
import { EventRecorder } from './fake-events.js';
import { Evictions } from './fake-evictions.js';
import { FakeLedger } from './fake-ledger.js';
import { aNode, type Machine } from './fake-machines.js';
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
}

/** What runs behind the API. */
export class FakeCluster {
  readonly store: FakeStore;
  readonly ledger: FakeLedger;
  readonly admission: Admission;
  readonly watches: Watches;
  readonly evictions: Evictions;
  readonly events: EventRecorder;

  constructor(options: ClusterOptions = {}) {
    this.store = new FakeStore(options.historyLimit);
    this.ledger = new FakeLedger(this.store);
    this.admission = new Admission(this.store);
    this.watches = new Watches(this.store, options);
    this.evictions = new Evictions(this.store);
    this.events = new EventRecorder(this.store);
    this.fill(options);
  }

  /** Nothing happens by itself any more. */
  close(): void {}

  private fill({ nodes = [{ name: 'node-1' }], namespaces = [], runtimeClasses = [] }: ClusterOptions): void {
    for (const name of ['default', ...namespaces]) {
      this.store.create('namespaces', '', { metadata: { name }, status: { phase: 'Active' } });
    }
    for (const name of runtimeClasses) this.store.create('runtimeclasses', '', { metadata: { name } });
    for (const machine of nodes) this.store.create('nodes', '', aNode(machine));
  }
}
