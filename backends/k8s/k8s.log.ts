import type { LogMark } from '../../contracts/log-events.js';
import { ClusterFailure } from '../cluster-client.js';
import { LOG_PATIENCE, type LogBytes, type LogEnd, type LogPatience, type LogTrouble } from '../log-reading.js';
import { pause } from '../pause.js';
import type { K8sClient, Reply } from './k8s.client.js';
import { isPassing, unreadableFailure } from './k8s.failures.js';
import { StampedLines } from './k8s.log-lines.js';
import { MarkPace } from './k8s.log-marks.js';
import { LogSeen, PlacedLines } from './k8s.log-place.js';
import { logFaultOf, logTroubleOf } from './k8s.log-status.js';
import { piecesOf, type Take } from './k8s.log-stream.js';
import { type LogTail, tailOf } from './k8s.log-tail.js';
import { podLogPath } from './k8s.paths.js';

/*
 * Reading what one container prints. A node serves the current file of a log, from its beginning or from a time on; when
 * it begins a new file, the old one is out of reach for all but who follows it already. Every line is known by its
 * timestamp, which is how each answer is laid to what was told before: see `PlacedLines`. States of a reading:
 * - new: nothing was told, and there is no mark. An answer begins at offset 0; what is kept already is left out.
 * - placed: a line of the log is known. What comes after it in an answer is told, from the end of what was told on.
 * - elsewhere: an answer has lines that were printed later than all that was told, and not the one that is known: its
 *   file was thrown away. All of the answer is told, behind a gap.
 * Nothing is kept here that a reader of the offsets and of the last mark does not find again. A worker that dies
 * - before the first mark, which comes with the first line: the next one reads from the beginning, and leaves out what is
 *   kept; what does not begin soon after the start of its container may be another file, and is told behind a gap,
 * - after a mark: the next one looks for its line, and counts from there. If that file was thrown away since the mark,
 *   the next one tells a gap, and may tell again what was printed between the mark and the death. A gap is in the mark.
 * That an answer ends proves nothing, however well it ends: a node that dies ends it so. A log is complete when an answer
 * that was asked for afterwards has nothing after the last line that was told.
 */

/** Beside some bytes: where a later reader can go on, all that lies before having been told. */
export type LogRead = (LogBytes & { mark?: LogMark }) | LogTrouble;

export interface K8sLogOptions {
  client: Pick<K8sClient, 'stream'>;
  namespace: string;
  pod: string;
  container: string;
  /** Offset up to which it is kept already. */
  from: number;
  /** The last that was noted of it. */
  mark?: LogMark;
  /** When the container started, epoch ms. */
  startedAt?: number;
}

interface Asking {
  isFollow: boolean;
  sinceTime: string | undefined;
  /** Nothing came for so long. */
  silentMs: number;
}

/** What became of an answer. */
type Told =
  /** `isFound`: it goes on where what was told ends. */
  { kind: 'ended'; isFound: boolean } | LogTrouble;

interface LogQuery {
  follow?: string | undefined;
  sinceTime?: string | undefined;
  tailLines?: number;
}

/** Nothing came for so long: it is looked whether there is more all the same; then twice as long, up to the longest. */
const SILENT_MS = 15_000;
const LONGEST_SILENT_MS = 120_000;
/** Of an answer that is to come at once. */
const STALLED_MS = 30_000;
/** What is gone may be back in a moment: while the runtime of a node restarts, it knows no container. */
const GONE_TRIES = 3;
/** More with one timestamp are not counted at the end of a log: it is read. */
const MOST_TAIL_LINES = 20;
/** Of what goes on printing, each answer has more. */
const MOST_ANSWERS = 5;
const NOTHING = new Uint8Array();

/** Reads the log of one container of one pod. */
export class K8sLog {
  private readonly seen: LogSeen;
  private marks: MarkPace;

  constructor(private readonly options: K8sLogOptions) {
    this.seen = new LogSeen(options.from, options.mark, options.startedAt);
    this.marks = new MarkPace(this.seen.mark);
  }

  /** Whether some of what was printed may have been thrown away before it was read. */
  get isHeadCut(): boolean {
    return this.seen.isCut;
  }

  /**
   * What is printed, as it comes, until the stream ends, which proves nothing, or `signal` aborts. No bytes are told where
   * it was looked, and nothing is printed.
   */
  async *follow(signal: AbortSignal, silentMs = SILENT_MS): AsyncGenerator<LogRead, void> {
    try {
      const told = yield* this.ask({ isFollow: true, sinceTime: this.seen.since, silentMs }, signal);
      if (told.kind !== 'ended') yield told;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * What is left of it, once no more is printed, and whether that is all: of what goes on printing it is `short`. Throws
   * where `signal` aborts.
   */
  async *finish(signal: AbortSignal, patience: LogPatience = LOG_PATIENCE): AsyncGenerator<LogRead, LogEnd> {
    let tried = 0;
    let answers = 0;
    for (let delayMs = patience.firstMs; ; delayMs = Math.min(patience.longestMs, delayMs * 2)) {
      const before = this.seen.end;
      const end = yield* this.catchUp(signal);
      answers += end.kind === 'short' ? 1 : 0;
      if (answers > MOST_ANSWERS) return end;
      if (this.seen.end > before) {
        tried = 0;
        delayMs = patience.firstMs / 2;
        continue;
      }
      tried += 1;
      if (!('text' in end) || tried >= (end.kind === 'gone' ? GONE_TRIES : patience.tries)) return end;
      await pause(delayMs, signal);
    }
  }

  /** Tells what there is beyond what was told: if that is something, and it is not known whether it is all, `short`. */
  private async *catchUp(signal: AbortSignal): AsyncGenerator<LogRead, LogEnd> {
    const { seen } = this;
    const tail = await this.tail(signal);
    if (tail.kind === 'line' && seen.isLast(tail)) return { kind: 'complete', isVerified: true };
    if (tail.kind === 'gone' || tail.kind === 'unreachable' || tail.kind === 'not-started') return tail;
    const before = seen.end;
    const sinceTime = tail.kind === 'line' ? seen.sinceBefore(tail.stamp) : undefined;
    const told = yield* this.ask({ isFollow: false, sinceTime, silentMs: STALLED_MS }, signal);
    if (told.kind !== 'ended') return told;
    return seen.end > before ? { kind: 'short' } : { kind: 'complete', isVerified: told.isFound };
  }

  /** The last line that there is. */
  private async tail(signal: AbortSignal): Promise<LogTail> {
    const { place } = this.seen;
    if (!place || place.nth > MOST_TAIL_LINES) return { kind: 'none' };
    try {
      // One line more, by which it shows if another one has that timestamp.
      return await tailOf((take) => this.open({ tailLines: place.nth + 1 }, take, signal));
    } catch (error) {
      return unreachable(error, signal);
    }
  }

  /** Reads an answer, and another one from its beginning if the first one begins elsewhere. */
  private async *ask(asking: Asking, signal: AbortSignal): AsyncGenerator<LogRead, Told> {
    const told = yield* this.read(asking, false, signal);
    return told ?? (yield* this.read(asking, true, signal)) ?? { kind: 'ended', isFound: false };
  }

  /** What one answer adds to what was told. Nothing if it begins elsewhere. */
  private async *read(
    { isFollow, ...asking }: Asking,
    isAnew: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<LogRead, Told | undefined> {
    let { silentMs } = asking;
    let isBegun = false;
    // What is told behind a gap is found again by nothing that was noted before.
    if (isAnew) this.marks = new MarkPace();
    const wasNew = !this.seen.place && this.seen.end === 0;
    const sinceTime = isAnew ? undefined : asking.sinceTime;
    const placed = new PlacedLines(this.seen, isAnew);
    const lines = new StampedLines(placed, { isCutBefore: sinceTime !== undefined, isFollow });
    const query = { follow: isFollow ? 'true' : undefined, sinceTime };
    const pieces = piecesOf(
      (take, ending) => this.open(query, take, ending),
      signal,
      () => silentMs,
    );
    try {
      for (;;) {
        const part = await pieces.next();
        if (part.done) {
          if (part.value.status !== 200) return logTroubleOf(part.value);
          break;
        }
        if (part.value) {
          isBegun = true;
          const isWanted = lines.push(part.value);
          yield* this.told(placed);
          if (!isWanted) return undefined;
        } else if (isFollow) {
          const end = yield* this.catchUp(signal);
          if (end.kind === 'short') return { kind: 'ended', isFound: true };
          if (end.kind !== 'complete') return end;
          yield { kind: 'bytes', at: this.seen.end, bytes: NOTHING };
          isBegun = true;
          silentMs = Math.min(LONGEST_SILENT_MS, silentMs * 2);
        } else {
          return { kind: 'unreachable', text: 'its node stopped in the middle of its log' };
        }
      }
    } catch (error) {
      const trouble = unreachable(error, signal);
      // A stream that was cut is gone on with.
      return isFollow && isBegun ? { kind: 'ended', isFound: placed.isFound } : trouble;
    } finally {
      await pieces.return({ status: 0 });
    }
    lines.end();
    yield* this.told(placed);
    if (lines.fault !== undefined) return logFaultOf(lines.fault);
    if (!isFollow && !placed.isFound && placed.hasLines) return undefined;
    return { kind: 'ended', isFound: placed.isFound || wasNew };
  }

  private *told(placed: PlacedLines): Generator<LogRead> {
    const fresh = placed.fresh();
    if (!fresh) return;
    const mark = this.marks.due(this.seen.mark);
    yield { kind: 'bytes', ...fresh, ...(mark && { mark }) };
  }

  private open(query: LogQuery, take: Take, signal: AbortSignal): Promise<Reply> {
    const { client, namespace, pod, container } = this.options;
    const takeText: Take = (piece, type) => {
      if (/^text\/html/.test(type)) throw unreadableFailure();
      return take(piece, type);
    };
    const asked = { container, timestamps: 'true', ...query };
    return client.stream(podLogPath(namespace, pod), asked, { signal, take: takeText });
  }
}

function unreachable(error: unknown, signal: AbortSignal): LogTrouble {
  if (signal.aborted || !isPassing(error) || !(error instanceof ClusterFailure)) throw error;
  return { kind: 'unreachable', text: error.message };
}
