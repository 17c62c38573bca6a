import { PlatformError } from '../contracts/errors.js';

interface Entry<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface Group<Item, Result> {
  entries: Map<string, Entry<Item, Result>>;
  bytes: number;
  isDue: boolean;
}

interface Options<Item, Result> {
  /** Writes all or nothing, and answers for each in order. */
  write(items: Item[]): Promise<Result[]>;
  /** Two of one key never share a group. */
  keyOf(item: Item): string;
  bytesOf?(item: Item): number;
}

/** How long the first of a group waits for others. */
const WAIT_MS = 3;
const MOST_ITEMS = 200;
const MOST_BYTES = 1_024 * 1_024;
/** While so many groups are being written, the next one grows. */
const MOST_IN_FLIGHT = 4;

/**
 * Lets writers that come together share one statement. Each is answered for itself, after the commit. A group that fails
 * is split until only what is wrong with it fails: writing again what was committed without an answer must be harmless.
 */
export class GroupWriter<Item, Result> {
  private readonly groups: Group<Item, Result>[] = [];
  private inFlight = 0;

  constructor(private readonly options: Options<Item, Result>) {}

  submit(item: Item): Promise<Result> {
    const { keyOf, bytesOf } = this.options;
    const key = keyOf(item);
    const bytes = bytesOf?.(item) ?? 0;
    return new Promise((resolve, reject) => {
      const group = this.groupFor(key, bytes);
      group.entries.set(key, { item, resolve, reject });
      group.bytes += bytes;
      if (group.entries.size === MOST_ITEMS) group.isDue = true;
      this.pump();
    });
  }

  private groupFor(key: string, bytes: number): Group<Item, Result> {
    const last = this.groups.at(-1);
    if (last) {
      const isFull = last.entries.size === MOST_ITEMS || last.bytes + bytes > MOST_BYTES;
      if (!isFull && !last.entries.has(key)) return last;
      last.isDue = true;
    }
    const next: Group<Item, Result> = { entries: new Map(), bytes: 0, isDue: false };
    this.groups.push(next);
    setTimeout(() => {
      next.isDue = true;
      this.pump();
    }, WAIT_MS);
    return next;
  }

  private pump(): void {
    while (this.inFlight < MOST_IN_FLIGHT && this.groups[0]?.isDue) {
      const group = this.groups.shift();
      if (group) void this.send([...group.entries.values()]);
    }
  }

  private async send(entries: Entry<Item, Result>[]): Promise<void> {
    this.inFlight += 1;
    try {
      await this.writeOrSplit(entries);
    } finally {
      this.inFlight -= 1;
      this.pump();
    }
  }

  private async writeOrSplit(entries: Entry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.options.write(entries.map(({ item }) => item));
      for (const [at, { resolve }] of entries.entries()) resolve(results[at] as Result);
    } catch (error) {
      if (entries.length === 1 || isUnavailable(error)) {
        for (const { reject } of entries) reject(error);
        return;
      }
      const half = entries.length >> 1;
      await this.writeOrSplit(entries.slice(0, half));
      await this.writeOrSplit(entries.slice(half));
    }
  }
}

/** Nothing is wrong with the group. */
const isUnavailable = (error: unknown): boolean => error instanceof PlatformError && error.code === 'STORE_UNAVAILABLE';
