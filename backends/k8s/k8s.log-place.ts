import type { LogMark } from '../../contracts/log-events.js';
import type { LineSink } from './k8s.log-lines.js';
import type { LastLine } from './k8s.log-tail.js';

/** A line of a log, as it is found again. */
interface LogPlace {
  /** Offset of its first byte in what the container printed. */
  at: number;
  stamp: string;
  /** Which one it is of the lines in a row that have this timestamp: from 1. */
  nth: number;
  /** Of the lines up to it: those of two streams may be some microseconds out of order, and clocks are set back. */
  latest: string;
}

const MARK = /^(\d{1,9}) (\S{20,35}) (\S{20,35})( cut)?$/;

/** A line that is so much later than all that came before another one was not printed before that. */
const OUT_OF_ORDER_MS = 5_000;
/** What begins so soon after the start of its container is the beginning of its log: no file is thrown away before. */
const BEGINNING_MS = 5_000;
/** A longer log is not read from its beginning each time that following it goes on, but from some time before. */
const SHORT_BYTES = 1_024 * 1_024;
/** More than lines are out of order, or clocks of nodes are commonly set back. */
const BEFORE_MS = 10_000;

/** What was told of a log, by whatever answers. */
export class LogSeen {
  /** The last line of which something was read. */
  place: Readonly<LogPlace> | undefined;
  /** Some of what was printed may have been thrown away before it was read. */
  isCut = false;

  constructor(
    /** End of what was told. */
    public end: number,
    mark: LogMark | undefined,
    /** When its container started, epoch ms. */
    private readonly startedAt?: number,
  ) {
    const [, nth, stamp, latest, cut] = MARK.exec(mark?.mark ?? '') ?? [];
    if (!mark || !nth || !stamp || !latest) return;
    this.place = { at: mark.at, stamp, nth: Number(nth), latest };
    this.isCut = cut !== undefined;
  }

  /** Whether an answer that begins with that line may be taken for the beginning of the log, where no line is known. */
  isBeginning(stamp: string): boolean {
    const { end, startedAt } = this;
    return end === 0 || (startedAt !== undefined && Date.parse(stamp) <= startedAt + BEGINNING_MS);
  }

  /** A line begins there. */
  reach(at: number, stamp: string, nth: number): void {
    const { place } = this;
    if (place && at < place.at) return;
    this.place = { at, stamp, nth, latest: place && isLater(place.latest, stamp) ? place.latest : stamp };
  }

  /** In whole seconds: from when on lines are asked for. Absent: all of them are. */
  get since(): string | undefined {
    const { place, end } = this;
    if (!place || end < SHORT_BYTES) return undefined;
    return `${new Date(Date.parse(place.stamp) - BEFORE_MS).toISOString().slice(0, 19)}Z`;
  }

  /** The same, unless the clock was set back so far that the last line would be missing. */
  sinceBefore(last: string): string | undefined {
    const { since } = this;
    return since !== undefined && Date.parse(since) <= Date.parse(last) ? since : undefined;
  }

  /** Whether that is the last line that was told, and all of it was. */
  isLast({ stamp, nth, bytes }: LastLine): boolean {
    const { place, end } = this;
    return place !== undefined && stamp === place.stamp && nth === place.nth && bytes === end - place.at;
  }

  /** From where a later reader can go on: from the beginning of the last line. */
  get mark(): LogMark | undefined {
    const { place, isCut } = this;
    return place && { at: place.at, mark: `${place.nth} ${place.stamp} ${place.latest}${isCut ? ' cut' : ''}` };
  }
}

/**
 * One answer, laid to what was told before by the last line that is known of it: from that one on, its bytes have the
 * offsets that they have in the log. Those that were told are left out. `anew`: that line is known to be there no more,
 * so that all of the answer was printed after it.
 */
export class PlacedLines implements LineSink {
  private readonly sought: Readonly<LogPlace> | undefined;
  private at: number | undefined;
  private stamp = '';
  private nth = 0;
  private pieces: Buffer[] = [];
  private freshAt = 0;
  /** It holds lines that were printed after the one that is sought, and not that one. */
  isElsewhere = false;

  constructor(
    private readonly seen: LogSeen,
    private readonly isAnew = false,
  ) {
    this.sought = seen.place;
  }

  /** It was found where reading goes on. */
  get isFound(): boolean {
    return this.at !== undefined;
  }

  get hasLines(): boolean {
    return this.nth > 0;
  }

  line(stamp: string): boolean {
    this.nth = stamp === this.stamp ? this.nth + 1 : 1;
    this.stamp = stamp;
    this.at ??= this.begin(stamp);
    if (this.at === undefined) return !this.isElsewhere;
    this.seen.reach(this.at, stamp, this.nth);
    return true;
  }

  text(bytes: Buffer): void {
    const { at, seen } = this;
    if (at === undefined) return;
    this.at = at + bytes.length;
    if (this.at <= seen.end) return;
    const fresh = bytes.subarray(Math.max(0, seen.end - at));
    if (this.pieces.length === 0) this.freshAt = this.at - fresh.length;
    this.pieces.push(fresh);
    seen.end = this.at;
  }

  /** What is to be told of what was read since this was asked last. */
  fresh(): { at: number; bytes: Buffer } | undefined {
    const { pieces } = this;
    if (pieces.length === 0) return undefined;
    this.pieces = [];
    return { at: this.freshAt, bytes: Buffer.concat(pieces) };
  }

  /** The offset of a line; nothing if it was printed before the one that is sought, as far as is known. */
  private begin(stamp: string): number | undefined {
    const { sought, seen } = this;
    if (!sought && seen.isBeginning(stamp)) return 0;
    if (stamp === sought?.stamp && this.nth === sought.nth) return sought.at;
    if (!sought || this.isAnew) {
      // How much is missing is not known: a byte stands for it.
      seen.isCut = true;
      return seen.end + 1;
    }
    const isAfter = isLater(stamp, sought.latest);
    this.isElsewhere = isAfter && Date.parse(stamp) > Date.parse(sought.latest) + OUT_OF_ORDER_MS;
    return undefined;
  }
}

/** Those of nodes that keep UTC are compared as they are. */
const isLater = (one: string, other: string): boolean =>
  one.endsWith('Z') && other.endsWith('Z') ? one > other : Date.parse(one) > Date.parse(other);
