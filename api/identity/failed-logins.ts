import { isIPv6 } from 'node:net';
import { PlatformError } from '../../contracts/errors.js';

/** So many failures at once, and one more each time one is forgiven. */
const BURST = 20;
/** More are not counted, so that a source is shut out for a minute at most. */
const COUNTED = 2 * BURST;
const FORGIVEN_MS = 3_000;
/** How long a credential that was accepted from a source is known to be good there. */
const KNOWN_MS = 3_600_000;
/** Sources and credentials that are remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000;

interface Failures {
  count: number;
  at: number;
}

/**
 * Slows the guessing of credentials. A source with too many failures is refused unchecked, whatever it comes with, so
 * that it learns nothing; except for what was accepted from it lately, so that one broken client does not lock out
 * everybody behind the same address.
 */
export class FailedLogins {
  private readonly failures = new Map<string, Failures>();
  private readonly known = new Map<string, number>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Before a credential is checked, which counts as a failure until it is known to be none. `digest` stands for it. */
  begin(source: string, digest: string): void {
    const count = this.countOf(source);
    if (count >= BURST && !this.isKnown(source, digest)) {
      const retryAfterSec = Math.ceil(((count - BURST + 1) * FORGIVEN_MS) / 1_000);
      const message = `too many failed logins from this address: try again in ${retryAfterSec} s`;
      this.note(source, count + 1);
      throw new PlatformError('TOO_MANY_REQUESTS', message, { retryAfterSec });
    }
    this.note(source, count + 1);
  }

  accepted(source: string, digest: string): void {
    this.takeBack(source);
    remember(this.known, `${source} ${digest}`, this.now());
  }

  /** It was no failure of the caller. */
  takeBack(source: string): void {
    this.note(source, Math.max(0, this.countOf(source) - 1));
  }

  private note(source: string, count: number): void {
    remember(this.failures, source, { count: Math.min(COUNTED, count), at: this.now() });
  }

  private countOf(source: string): number {
    const { count, at } = this.failures.get(source) ?? { count: 0, at: 0 };
    return Math.max(0, count - (this.now() - at) / FORGIVEN_MS);
  }

  private isKnown(source: string, digest: string): boolean {
    const since = this.known.get(`${source} ${digest}`);
    return since !== undefined && this.now() - since < KNOWN_MS;
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}

/** Who owns one IPv6 address owns its /64. */
export function sourceOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head.split(':').filter(Boolean);
  if (tail !== undefined) while (groups.length + tail.split(':').filter(Boolean).length < 8) groups.push('0');
  return `${groups.slice(0, 4).join(':')}::/64`;
}
