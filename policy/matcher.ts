/** Shortest text that is looked for. */
export const SHORTEST_MATCHED = 4;

const startOf = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);

/** Whether `pattern` stands in `bytes` from `at`, as far as there are bytes. */
function standsAt(pattern: Uint8Array, bytes: Uint8Array, at: number): boolean {
  const end = Math.min(pattern.length, bytes.length - at);
  for (let offset = 0; offset < end; offset++) if (pattern[offset] !== bytes[at + offset]) return false;
  return true;
}

/** Longer patterns are looked for one by one, in time that does not depend on what they hold. */
const LONGEST_SHARED = 256;

/** A pattern, and for each of its prefixes the longest proper prefix of it that is also its end. */
class LongPattern {
  private readonly fallback: Uint32Array;

  constructor(private readonly pattern: Uint8Array) {
    this.fallback = new Uint32Array(pattern.length);
    for (let at = 1, matched = 0; at < pattern.length; at++) {
      matched = this.step(matched, pattern[at]);
      this.fallback[at] = matched;
    }
  }

  /** How much of it stands at the end of the bytes; tells where it stands whole. */
  scan(bytes: Uint8Array, found: (start: number, end: number) => void): number {
    const { pattern } = this;
    let matched = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (matched === 0) {
        at = bytes.indexOf(pattern[0] ?? 0, at);
        if (at < 0) return 0;
      }
      matched = this.step(matched, bytes[at]);
      if (matched < pattern.length) continue;
      found(at + 1 - matched, at + 1);
      matched = this.fallback[matched - 1] ?? 0;
    }
    return matched;
  }

  private step(matched: number, byte: number | undefined): number {
    let length = matched;
    while (length > 0 && byte !== this.pattern[length]) length = this.fallback[length - 1] ?? 0;
    return byte === this.pattern[length] ? length + 1 : length;
  }
}

/** Looks for many texts at once: all that begin with the same four bytes are found by these, in one pass. */
export class Matcher {
  /** By their first four bytes, longest first. */
  private readonly patterns = new Map<number, Uint8Array[]>();
  /** Whether a pattern begins with these two bytes: most places need no more than this. */
  private readonly begins = new Uint8Array(65_536);
  private readonly long: LongPattern[] = [];
  private count = 0;

  add(pattern: Uint8Array): void {
    if (pattern.length < SHORTEST_MATCHED) return;
    this.count += 1;
    if (pattern.length > LONGEST_SHARED) {
      this.long.push(new LongPattern(pattern));
      return;
    }
    const start = startOf(pattern, 0);
    const alike = this.patterns.get(start) ?? [];
    const shorter = alike.findIndex(({ length }) => length < pattern.length);
    alike.splice(shorter < 0 ? alike.length : shorter, 0, pattern);
    this.patterns.set(start, alike);
    this.begins[((pattern[0] ?? 0) << 8) | (pattern[1] ?? 0)] = 1;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** Tells places where patterns stand, in any order. Returns from where on one may stand that goes on after the end. */
  scan(bytes: Uint8Array, found: (start: number, end: number) => void): number {
    const { length } = bytes;
    let open = length;
    for (let at = 0; at + SHORTEST_MATCHED <= length; at++) {
      if (this.begins[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] === 0) continue;
      let isFound = false;
      for (const pattern of this.patterns.get(startOf(bytes, at)) ?? []) {
        const end = at + pattern.length;
        // The longest that stands there covers the shorter ones.
        if (isFound && end <= length) break;
        if (!standsAt(pattern, bytes, at)) continue;
        if (end > length) open = Math.min(open, at);
        else {
          found(at, end);
          isFound = true;
        }
      }
    }
    for (const pattern of this.long) open = Math.min(open, length - pattern.scan(bytes, found));
    return Math.min(open, this.shortEnd(bytes));
  }

  /** Where a pattern may begin of which fewer bytes are there than patterns are found by. */
  private shortEnd(bytes: Uint8Array): number {
    for (let at = Math.max(0, bytes.length - SHORTEST_MATCHED + 1); at < bytes.length; at++) {
      for (const [first] of this.patterns.values()) if (first && standsAt(first, bytes, at)) return at;
    }
    return bytes.length;
  }
}
