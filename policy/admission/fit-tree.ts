/**
 * The least of all that waits below, per axis: nothing there asks for less of it. What is not declared is less than
 * any room, and what is not known is more than any time.
 */
export interface Bounds {
  memoryMb: number;
  cpuMillicores: number;
  /** MB and millicores added up: of tickets that are each small on one axis, none may fit on both. */
  together: number;
  askedAt: number;
  expectedMs: number;
}

/** Whether something with these bounds may be below; of a single ticket, whether it is. */
export type May = (bounds: Bounds) => boolean;

/** Of what holds nothing that could be granted: above every limit. */
export const NOTHING: Readonly<Bounds> = {
  memoryMb: Number.POSITIVE_INFINITY,
  cpuMillicores: Number.POSITIVE_INFINITY,
  together: Number.POSITIVE_INFINITY,
  askedAt: Number.POSITIVE_INFINITY,
  expectedMs: Number.POSITIVE_INFINITY,
};

export function lower(bounds: Bounds, other: Readonly<Bounds>): void {
  if (other.memoryMb < bounds.memoryMb) bounds.memoryMb = other.memoryMb;
  if (other.cpuMillicores < bounds.cpuMillicores) bounds.cpuMillicores = other.cpuMillicores;
  if (other.together < bounds.together) bounds.together = other.together;
  if (other.askedAt < bounds.askedAt) bounds.askedAt = other.askedAt;
  if (other.expectedMs < bounds.expectedMs) bounds.expectedMs = other.expectedMs;
}

/** What is kept in order: its place must not change while it is in a tree. */
export interface Placed {
  readonly bounds: Readonly<Bounds>;
}

interface Node<Item> {
  item: Item;
  priority: number;
  own: Readonly<Bounds>;
  least: Bounds;
  left: Branch<Item>;
  right: Branch<Item>;
}
type Branch<Item> = Node<Item> | undefined;

/**
 * Items in order, each branch with the least of all below it, so that the first that fits is found by going down.
 * Balanced as a treap whose priorities follow from a counter: the same calls always give the same tree.
 */
export class FitTree<Item extends Placed> {
  private root: Branch<Item>;
  private inserted = 0;

  /** `compare` is total: 0 only for the same item. */
  constructor(private readonly compare: (one: Item, other: Item) => number) {}

  get isEmpty(): boolean {
    return this.root === undefined;
  }

  /** Of everything in it. */
  get bounds(): Readonly<Bounds> {
    return this.root?.least ?? NOTHING;
  }

  get last(): Item | undefined {
    let node = this.root;
    while (node?.right) node = node.right;
    return node?.item;
  }

  insert(item: Item): void {
    this.inserted += 1;
    const own = item.bounds;
    const node = {
      item,
      priority: scattered(this.inserted),
      own,
      least: { ...own },
      left: undefined,
      right: undefined,
    };
    this.root = this.inserting(this.root, node);
  }

  remove(item: Item): void {
    this.root = this.removing(this.root, item);
  }

  /** The bounds of that item changed. */
  refresh(item: Item): void {
    this.refreshing(this.root, item);
  }

  /** What `within` finds in the first item in order in which it finds anything, of those that may hold it. */
  find<Found>(may: May, within: (item: Item) => Found | undefined): Found | undefined {
    return find(this.root, may, within);
  }

  *[Symbol.iterator](): Iterator<Item> {
    const above: Node<Item>[] = [];
    for (let node = this.root; node || above.length > 0; ) {
      while (node) {
        above.push(node);
        node = node.left;
      }
      const next = above.pop();
      if (next) yield next.item;
      node = next?.right;
    }
  }

  private inserting(node: Branch<Item>, added: Node<Item>): Node<Item> {
    if (!node) return added;
    if (added.priority > node.priority) {
      [added.left, added.right] = this.split(node, added.item);
      return pulled(added);
    }
    if (this.compare(added.item, node.item) < 0) node.left = this.inserting(node.left, added);
    else node.right = this.inserting(node.right, added);
    lower(node.least, added.own);
    return node;
  }

  private removing(node: Branch<Item>, item: Item): Branch<Item> {
    if (!node) return undefined;
    const order = this.compare(item, node.item);
    if (order === 0) return merged(node.left, node.right);
    if (order < 0) node.left = this.removing(node.left, item);
    else node.right = this.removing(node.right, item);
    return pulled(node);
  }

  private refreshing(node: Branch<Item>, item: Item): void {
    if (!node) return;
    const order = this.compare(item, node.item);
    if (order === 0) node.own = item.bounds;
    else this.refreshing(order < 0 ? node.left : node.right, item);
    pulled(node);
  }

  /** What goes before the item, and what after. */
  private split(node: Branch<Item>, item: Item): [Branch<Item>, Branch<Item>] {
    if (!node) return [undefined, undefined];
    if (this.compare(item, node.item) < 0) {
      const [before, after] = this.split(node.left, item);
      node.left = after;
      return [before, pulled(node)];
    }
    const [before, after] = this.split(node.right, item);
    node.right = before;
    return [pulled(node), after];
  }
}

/** Everything of `before` goes before everything of `after`. */
function merged<Item>(before: Branch<Item>, after: Branch<Item>): Branch<Item> {
  if (!before || !after) return before ?? after;
  if (before.priority > after.priority) {
    before.right = merged(before.right, after);
    return pulled(before);
  }
  after.left = merged(before, after.left);
  return pulled(after);
}

function pulled<Item>(node: Node<Item>): Node<Item> {
  const { least, own } = node;
  least.memoryMb = own.memoryMb;
  least.cpuMillicores = own.cpuMillicores;
  least.together = own.together;
  least.askedAt = own.askedAt;
  least.expectedMs = own.expectedMs;
  if (node.left) lower(least, node.left.least);
  if (node.right) lower(least, node.right.least);
  return node;
}

function find<Item, Found>(node: Branch<Item>, may: May, within: (item: Item) => Found | undefined): Found | undefined {
  if (!node || !may(node.least)) return undefined;
  return (
    find(node.left, may, within) ?? (may(node.own) ? within(node.item) : undefined) ?? find(node.right, may, within)
  );
}

/** Evenly spread, whatever the order of the numbers. */
function scattered(number: number): number {
  const mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  return Math.imul(mixed ^ (mixed >>> 13), 0x119de1f3) >>> 0;
}
