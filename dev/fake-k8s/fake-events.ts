import { randomBytes } from 'node:crypto';
import type { Kind, Kinds } from './fake-objects.js';
import { apiVersionOf, RESOURCES } from './fake-resources.js';
import { type FakeStore, timestamp } from './fake-store.js';

export interface Happening {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  component: string;
  host?: string;
  /** Of what it is about, such as `spec.containers{main}`. */
  fieldPath?: string;
}

/** Writes events as the parts of a cluster do: those of the scheduler have `eventTime` and no count, others the reverse. */
export class EventRecorder {
  private readonly names = new Map<string, string>();

  constructor(private readonly store: FakeStore) {}

  /** One that says the same again is counted. */
  record<K extends Kind>(kind: K, about: Kinds[K], happening: Happening): void {
    const { type, reason, message, component, host, fieldPath } = happening;
    const { namespace = '', name, uid, resourceVersion } = about.metadata;
    const resource = RESOURCES[kind];
    const involvedObject = {
      resourceVersion,
      kind: resource.name,
      namespace,
      name,
      uid,
      apiVersion: apiVersionOf(resource),
      ...(fieldPath && { fieldPath }),
    };
    const now = timestamp();
    const isOfScheduler = component === 'default-scheduler';
    const place = namespace || 'default';
    const key = [uid, type, reason, message, fieldPath].join('\n');
    const counted =
      !isOfScheduler &&
      this.store.update('events', place, this.names.get(key) ?? '', (event) => {
        event.count = (event.count ?? 1) + 1;
        event.lastTimestamp = now;
      });
    if (counted) return;
    const time = isOfScheduler
      ? { firstTimestamp: null, lastTimestamp: null, eventTime: new Date().toISOString().replace('Z', '000Z') }
      : { firstTimestamp: now, lastTimestamp: now, eventTime: null, count: 1 };
    const event = this.store.create('events', place, {
      metadata: { name: `${name}.${randomBytes(8).toString('hex')}` },
      ...{ involvedObject, type, reason, message, ...time },
      source: isOfScheduler ? {} : { component, ...(host && { host }) },
      ...{ reportingComponent: component, reportingInstance: host ?? '' },
    });
    this.names.set(key, event.metadata.name);
  }
}
