import { randomUUID } from 'node:crypto';
import { jobWithDefaults, podWithDefaults, secretWithDefaults } from './fake-defaults.js';
import { rangeRefusal, withRanges } from './fake-limits.js';
import type { Draft, Job, Kind, Kinds, Pod, Secret, Stored } from './fake-objects.js';
import { quotaRefusal } from './fake-quota.js';
import { RESOURCES } from './fake-resources.js';
import type { FakeStore } from './fake-store.js';
import { faultsOf } from './fake-validation.js';
import { type Answer, alreadyExists, denied, invalid, notFound } from './status.js';

/** A text refuses the object, in the words of whoever vetoes. */
export type Veto = (kind: Kind, draft: Draft<Stored>) => string | undefined;

/** What a webhook of this cluster makes of a pod. */
export type PodChange = (pod: Draft<Pod>) => Draft<Pod>;

/** Lets objects in, as they are with what a server adds: those of its API as those of its controllers. */
export class Admission {
  /** What only this cluster refuses, such as by a policy on pods. */
  veto: Veto = () => undefined;
  changePod: PodChange = (pod) => pod;

  constructor(private readonly store: FakeStore) {}

  /** What was created, or the refusal. */
  create<K extends Kind>(kind: K, namespace: string, body: Draft<Kinds[K]>): Kinds[K] | Answer {
    const draft = this.named(kind, namespace, body as Draft<Stored>);
    const { name = '' } = draft.metadata;
    const { name: title, group, isNamespaced } = RESOURCES[kind];
    const closed = isNamespaced ? this.closed(kind, namespace, name) : undefined;
    if (closed) return closed;
    const whole = this.withDefaults(kind, namespace, draft);
    const early = kind === 'pods' ? this.podRefusal(namespace, whole as Draft<Pod>) : undefined;
    if (early) return denied(kind, group, name, early);
    const faults = faultsOf(kind, draft);
    if (faults.length > 0) return invalid(title, group, name, faults);
    const refused = this.veto(kind, whole) ?? quotaRefusal(this.store, kind, namespace, whole);
    if (refused) return denied(kind, group, name, refused);
    if (this.store.get(kind, namespace, name)) return alreadyExists(kind, group, name);
    return this.store.create(kind, namespace, whole as Draft<Kinds[K]>);
  }

  private named(kind: Kind, namespace: string, { metadata, ...rest }: Draft<Stored>): Draft<Stored> {
    const { generateName } = metadata;
    const name = metadata.name || (generateName ? this.store.freeName(kind, namespace, generateName) : '');
    return { ...rest, metadata: { ...metadata, name, ...(kind === 'jobs' && { uid: randomUUID() }) } };
  }

  private closed(kind: Kind, namespace: string, name: string): Answer | undefined {
    const found = this.store.get('namespaces', '', namespace);
    if (!found) return notFound('namespaces', '', namespace);
    if (!found.metadata.deletionTimestamp && found.status?.phase !== 'Terminating') return undefined;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const message = `namespace ${namespace} is being terminated`;
    const cause = { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' };
    return denied(kind, RESOURCES[kind].group, name, why, [cause]);
  }

  private podRefusal(namespace: string, pod: Draft<Pod>): string | undefined {
    const { runtimeClassName } = pod.spec;
    if (runtimeClassName && !this.store.get('runtimeclasses', '', runtimeClassName)) {
      return `pod rejected: RuntimeClass "${runtimeClassName}" not found`;
    }
    return rangeRefusal(this.store, namespace, pod);
  }

  private withDefaults(kind: Kind, namespace: string, draft: Draft<Stored>): Draft<Stored> {
    if (kind === 'jobs') return jobWithDefaults(draft as Draft<Job>);
    if (kind === 'pods') return withRanges(this.store, namespace, podWithDefaults(this.changePod(draft as Draft<Pod>)));
    return kind === 'secrets' ? secretWithDefaults(draft as Draft<Secret>) : draft;
  }
}
