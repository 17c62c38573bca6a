/** Most changes that are kept beside the entries, as a multiple of the root of their number. */
const LOOSE = 8;

/** An `OrderedMap` that is only read. */
export type ReadonlyOrderedMap<Value> = Pick<
  OrderedMap<Value>,
  'get' | 'has' | 'size' | 'keys' | 'values' | 'copy' | typeof Symbol.iterator
>;

/**
 * A map in order of insertion, like `Map`, of which a copy costs little: copies share their entries, and each keeps its
 * own changes to them beside, until there are so many that it makes entries of its own. Values are never `undefined`.
 */
export class OrderedMap<Value> {
  /** Shared: never changed. */
  private base: ReadonlyMap<string, Value> = new Map();
  /** What is different about entries of the base; `undefined`: taken out. */
  private patch = new Map<string, Value | undefined>();
  /** Entries after those of the base. */
  private added = new Map<string, Value>();
  private count = 0;

  static from<Value>(entries: Iterable<readonly [string, Value]>): OrderedMap<Value> {
    const map = new OrderedMap<Value>();
    map.base = new Map(entries);
    map.count = map.base.size;
    return map;
  }

  /** An independent one. */
  copy(): OrderedMap<Value> {
    const copied = new OrderedMap<Value>();
    copied.base = this.base;
    copied.patch = new Map(this.patch);
    copied.added = new Map(this.added);
    copied.count = this.count;
    return copied;
  }

  get size(): number {
    return this.count;
  }

  get(key: string): Value | undefined {
    return this.added.get(key) ?? (this.patch.has(key) ? this.patch.get(key) : this.base.get(key));
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** A key that is there keeps its place. */
  set(key: string, value: Value): void {
    const isKnown = this.has(key);
    if (isKnown && !this.added.has(key)) this.patch.set(key, value);
    else this.added.set(key, value);
    if (!isKnown) this.count += 1;
    this.tidy();
  }

  delete(key: string): void {
    if (!this.has(key)) return;
    this.count -= 1;
    if (!this.added.delete(key)) this.patch.set(key, undefined);
    this.tidy();
  }

  *[Symbol.iterator](): IterableIterator<[string, Value]> {
    for (const entry of this.base) {
      if (!this.patch.has(entry[0])) yield entry;
      else {
        const value = this.patch.get(entry[0]);
        if (value !== undefined) yield [entry[0], value];
      }
    }
    yield* this.added;
  }

  *keys(): IterableIterator<string> {
    for (const [key] of this) yield key;
  }

  *values(): IterableIterator<Value> {
    for (const [, value] of this) yield value;
  }

  private tidy(): void {
    if (this.patch.size + this.added.size <= LOOSE * Math.sqrt(this.count) + LOOSE) return;
    const base = new Map(this.base);
    for (const [key, value] of this.patch) {
      if (value === undefined) base.delete(key);
      else base.set(key, value);
    }
    for (const [key, value] of this.added) base.set(key, value);
    this.base = base;
    this.patch = new Map();
    this.added = new Map();
  }
}
