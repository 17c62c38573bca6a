import { randomBytes } from 'node:crypto';
import type { Pod } from './fake-objects.js';
import { type FakeStore, timestamp } from './fake-store.js';

export interface PodEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** `spec.containers{main}`; absent: of the pod as a whole. */
  fieldPath?: string;
}

/** Tells what befalls pods on one node. What is told again is counted. */
export class KubeletEvents {
  private readonly names = new Map<string, string>();

  constructor(
    private readonly store: FakeStore,
    private readonly node: string,
  ) {}

  record({ metadata }: Pod, { type, reason, message, fieldPath }: PodEvent): void {
    const { name, namespace = '', uid } = metadata;
    const key = [uid, type, reason, message, fieldPath].join('\n');
    const now = timestamp();
    const counted = this.store.update('events', namespace, this.names.get(key) ?? '', (event) => {
      event.count = (event.count ?? 1) + 1;
      event.lastTimestamp = now;
    });
    if (counted) return;
    const event = this.store.create('events', namespace, {
      ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.${randomBytes(8).toString('hex')}` } },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, ...(fieldPath && { fieldPath }) },
      ...{ type, reason, message, count: 1, firstTimestamp: now, lastTimestamp: now, eventTime: null },
      source: { component: 'kubelet', host: this.node },
      ...{ reportingComponent: 'kubelet', reportingInstance: this.node },
    });
    this.names.set(key, event.metadata.name);
  }
}
