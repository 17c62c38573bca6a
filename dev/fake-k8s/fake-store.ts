import { randomInt, randomUUID } from 'node:crypto';
import type { Draft, Kind, Kinds, Meta, Stored } from './fake-objects.js';

/** One change of one object, as it is after it. Of one that is deleted: its last state, under the version of its end. */
export interface Change<K extends Kind = Kind> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  kind: K;
  object: Kinds[K];
  /** As it was before it. */
  previous?: Kinds[K];
  version: number;
}

type Listener = (change: Change) => void;

interface Removal {
  /** Whole seconds until what runs is killed; who runs it removes it at last, without. */
  graceSeconds?: number;
  /** Is added before, so that who looks after it comes first. */
  finalizer?: string;
}

/**
 * Every object of a cluster under one counter of versions. Objects are frozen: they change by `update` alone, which
 * hands out a copy. Listeners hear of each change in order and once, also of those that listeners make.
 */
export class FakeStore {
  private readonly objects = new Map<Kind, Map<string, Stored>>();
  private readonly listeners = new Set<Listener>();
  private readonly untold: Change[] = [];
  private history: Change[] = [];
  private isTelling = false;
  /** Of the change that came last. */
  version = 1_000;
  /** What happened up to this version is forgotten. */
  oldestVersion = 1_000;

  constructor(private readonly historyLimit = 10_000) {}

  /** A name is made where there is `generateName`, a uid where there is none. Throws if there is one of the name. */
  create<K extends Kind>(kind: K, namespace: string, draft: Draft<Kinds[K]>): Kinds[K] {
    const { metadata } = draft;
    const name = metadata.name || this.freeName(kind, namespace, metadata.generateName ?? '');
    if (this.get(kind, namespace, name)) throw new Error(`${kind} ${namespace}/${name} already exists`);
    const own = {
      uid: metadata.uid ?? randomUUID(),
      creationTimestamp: timestamp(),
      ...('spec' in draft && { generation: 1 }),
    };
    const object = {
      ...copyOf(draft),
      metadata: { ...copyOf(metadata), name, ...(namespace && { namespace }), ...own, resourceVersion: '' },
    } as Kinds[K];
    this.put('ADDED', kind, object);
    return object;
  }

  /** With the prefix and an ending that nothing of the kind has. */
  freeName(kind: Kind, namespace: string, prefix: string): string {
    for (;;) {
      const name = generatedName(prefix);
      if (!this.get(kind, namespace, name)) return name;
    }
  }

  get<K extends Kind>(kind: K, namespace: string, name: string): Kinds[K] | undefined {
    return this.of(kind).get(`${namespace}/${name}`);
  }

  /** Of one namespace, or of all, by name. */
  list<K extends Kind>(kind: K, namespace?: string): Kinds[K][] {
    const all = [...this.of(kind).values()];
    const found =
      namespace === undefined ? all : all.filter(({ metadata }) => (metadata.namespace ?? '') === namespace);
    return found.sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  }

  /**
   * What `change` does to a copy. Nothing changes where nothing differs. An object that is being deleted
   * and has no finalizer and no grace left is gone after it. `undefined`: there is none.
   */
  update<K extends Kind>(
    kind: K,
    namespace: string,
    name: string,
    change: (copy: Kinds[K]) => void,
  ): Kinds[K] | undefined {
    const before = this.get(kind, namespace, name);
    if (!before) return undefined;
    const after = copyOf(before);
    change(after);
    withoutEmpty(after.metadata);
    if (isSame(before, after)) return before;
    if (!isSame(specOf(before), specOf(after))) after.metadata.generation = generationAfter(before);
    if (isDone(after)) this.put('DELETED', kind, copyOf(before), before);
    else this.put('MODIFIED', kind, after, before);
    return after;
  }

  /** Deletes it, or marks it as being deleted while a grace or a finalizer is left. `undefined`: there is none. */
  remove<K extends Kind>(
    kind: K,
    namespace: string,
    name: string,
    { graceSeconds = 0, finalizer }: Removal = {},
  ): Kinds[K] | undefined {
    const before = this.get(kind, namespace, name);
    if (!before) return undefined;
    const after = copyOf(before);
    const { metadata } = after;
    if (finalizer && !metadata.finalizers?.includes(finalizer)) {
      metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
    }
    const isSooner = graceSeconds < (metadata.deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY);
    if (metadata.deletionTimestamp === undefined || isSooner) {
      metadata.deletionTimestamp = timestamp(graceSeconds * 1_000);
      metadata.deletionGracePeriodSeconds = graceSeconds;
      metadata.generation = generationAfter(before);
    }
    // Of a pod it is told that nothing is left to wait for, and then that it is gone.
    const isTold = kind === 'pods' || !isDone(after);
    if (isTold && !isSame(before, after)) this.put('MODIFIED', kind, copyOf(after), before);
    if (isDone(after)) this.put('DELETED', kind, copyOf(isTold ? after : before), isTold ? after : before);
    return after;
  }

  /** Ends with what it returns. */
  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** What happened after a version, or that it is no longer known. */
  since(version: number): readonly Change[] | 'too old' {
    if (version < this.oldestVersion) return 'too old';
    return this.history.filter((change) => change.version > version);
  }

  /** Forgets what happened until now, as etcd does from time to time. */
  compact(): void {
    this.history = [];
    this.oldestVersion = this.version;
  }

  private of<K extends Kind>(kind: K): Map<string, Kinds[K]> {
    const objects = this.objects.get(kind) ?? new Map<string, Stored>();
    this.objects.set(kind, objects);
    return objects as Map<string, Kinds[K]>;
  }

  private put<K extends Kind>(type: Change['type'], kind: K, object: Kinds[K], previous?: Kinds[K]): void {
    this.version += 1;
    const { version } = this;
    object.metadata.resourceVersion = String(version);
    freeze(object);
    if (type === 'DELETED') this.of(kind).delete(pathOf(object));
    else this.of(kind).set(pathOf(object), object);
    const change: Change = { type, kind, object, version, ...(previous && { previous }) };
    this.history.push(change);
    if (this.history.length > this.historyLimit) this.forgetHalf();
    this.untold.push(change);
    this.tell();
  }

  private forgetHalf(): void {
    const kept = this.history.slice(this.history.length >> 1);
    this.oldestVersion = (kept[0]?.version ?? this.version + 1) - 1;
    this.history = kept;
  }

  private tell(): void {
    if (this.isTelling) return;
    this.isTelling = true;
    try {
      for (let change = this.untold.shift(); change; change = this.untold.shift()) {
        for (const listener of [...this.listeners]) listener(change);
      }
    } finally {
      this.isTelling = false;
    }
  }
}

const pathOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** As it would be after its way over the wire: what is undefined is absent. */
const copyOf = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const generationAfter = ({ metadata }: Stored): number | undefined => metadata.generation && metadata.generation + 1;
/** To be bound to a node is no change of what was asked for. */
function specOf(object: Stored): unknown {
  const { spec } = object as { spec?: object };
  return spec && { ...spec, nodeName: undefined };
}

/** Lists without anything in them are absent. */
function withoutEmpty(metadata: Meta): void {
  if (metadata.finalizers?.length === 0) delete metadata.finalizers;
  if (metadata.ownerReferences?.length === 0) delete metadata.ownerReferences;
}

const isDone = ({ metadata }: Stored): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0;

/** RFC 3339 in whole seconds, so many ms from now. */
export const timestamp = (inMs = 0): string => new Date(Date.now() + inMs).toISOString().replace(/\.\d+Z$/, 'Z');

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

function generatedName(prefix: string): string {
  const ending = Array.from({ length: 5 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return `${prefix.slice(0, 58)}${ending}`;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze(each);
}
