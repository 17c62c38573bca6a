import { deleteObject } from './fake-deletion.js';
import type { Kind, Stored } from './fake-objects.js';
import { WorkQueue } from './fake-queue.js';
import type { Change, FakeStore } from './fake-store.js';

interface Place {
  kind: Kind;
  namespace: string;
  name: string;
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Deletes what has an owner no more, and lets go of owners that wait for what they own. */
export class GarbageCollector {
  /** By uid of the owner: what it owns, by uid. */
  private readonly owned = new Map<string, Map<string, Place>>();
  private readonly alive = new Map<string, Place>();
  private readonly queue: WorkQueue;

  constructor(
    private readonly store: FakeStore,
    collectMs: number,
  ) {
    this.queue = new WorkQueue((uid) => this.collect(uid), collectMs);
    store.onChange((change) => this.see(change));
  }

  close(): void {
    this.queue.close();
  }

  private see({ type, kind, object, previous }: Change): void {
    const { uid, name, namespace = '', ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata;
    const place = { kind, namespace, name };
    for (const owner of previous?.metadata.ownerReferences ?? []) this.owned.get(owner.uid)?.delete(uid);
    if (type === 'DELETED') this.alive.delete(uid);
    else this.alive.set(uid, place);
    for (const owner of ownerReferences) {
      if (type !== 'DELETED') this.ownedBy(owner.uid).set(uid, place);
      const isWaiting = type === 'DELETED' || !this.alive.has(owner.uid);
      if (isWaiting) this.queue.add(owner.uid);
    }
    const isHeld = finalizers.includes(ORPHAN) || finalizers.includes(FOREGROUND);
    if (type === 'DELETED' || (deletionTimestamp && isHeld)) this.queue.add(uid);
  }

  private ownedBy(uid: string): Map<string, Place> {
    const owned = this.owned.get(uid) ?? new Map<string, Place>();
    this.owned.set(uid, owned);
    return owned;
  }

  private collect(uid: string): void {
    const place = this.alive.get(uid);
    const owner = place && this.store.get(place.kind, place.namespace, place.name);
    if (!place || !owner) {
      for (const each of [...this.ownedBy(uid).values()]) this.disown(each);
      this.owned.delete(uid);
      return;
    }
    if (!owner.metadata.deletionTimestamp) return;
    if (owner.metadata.finalizers?.includes(ORPHAN)) this.orphan(place, owner);
    else if (owner.metadata.finalizers?.includes(FOREGROUND)) this.deleteFirst(place, owner);
  }

  /** Nobody owns it any more, or only somebody else does. */
  private disown({ kind, namespace, name }: Place): void {
    const found = this.store.get(kind, namespace, name);
    if (!found) return;
    const left = (found.metadata.ownerReferences ?? []).filter(({ uid }) => this.alive.has(uid));
    if (left.length === 0) {
      if (!found.metadata.deletionTimestamp) deleteObject(this.store, kind, found, BACKGROUND);
      return;
    }
    this.store.update(kind, namespace, name, ({ metadata }) => {
      metadata.ownerReferences = left;
    });
  }

  private orphan(place: Place, { metadata }: Stored): void {
    for (const each of [...this.ownedBy(metadata.uid).values()]) {
      this.store.update(each.kind, each.namespace, each.name, (copy) => {
        copy.metadata.ownerReferences = copy.metadata.ownerReferences?.filter(({ uid }) => uid !== metadata.uid);
      });
    }
    this.release(place, ORPHAN);
  }

  private deleteFirst(place: Place, { metadata }: Stored): void {
    const owned = [...this.ownedBy(metadata.uid).values()];
    for (const { kind, namespace, name } of owned) {
      const found = this.store.get(kind, namespace, name);
      if (found && !found.metadata.deletionTimestamp) deleteObject(this.store, kind, found, BACKGROUND);
    }
    if (this.ownedBy(metadata.uid).size === 0) this.release(place, FOREGROUND);
  }

  private release({ kind, namespace, name }: Place, finalizer: string): void {
    this.store.update(kind, namespace, name, ({ metadata }) => {
      metadata.finalizers = metadata.finalizers?.filter((each) => each !== finalizer);
    });
  }
}

const BACKGROUND = { propagationPolicy: 'Background' };
