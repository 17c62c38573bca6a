/** What comes next is what has the least key. Of equal keys, either. */
export class Heap<Item> {
  private readonly keys: number[] = [];
  private readonly items: Item[] = [];

  get size(): number {
    return this.items.length;
  }

  get least(): number | undefined {
    return this.keys[0];
  }

  push(key: number, item: Item): void {
    let at = this.items.length;
    for (let parent = (at - 1) >> 1; at > 0 && this.keyAt(parent) > key; parent = (at - 1) >> 1) {
      this.put(at, this.keyAt(parent), this.items[parent] as Item);
      at = parent;
    }
    this.put(at, key, item);
  }

  pop(): Item | undefined {
    const first = this.items[0];
    const [key, item] = [this.keys.pop(), this.items.pop()];
    const size = this.items.length;
    if (key === undefined || size === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < size && this.keyAt(child + 1) < this.keyAt(child)) child += 1;
      if (child >= size || this.keyAt(child) >= key) break;
      this.put(at, this.keyAt(child), this.items[child] as Item);
      at = child;
    }
    this.put(at, key, item as Item);
    return first;
  }

  private keyAt(at: number): number {
    return this.keys[at] ?? Number.POSITIVE_INFINITY;
  }

  private put(at: number, key: number, item: Item): void {
    this.keys[at] = key;
    this.items[at] = item;
  }
}
