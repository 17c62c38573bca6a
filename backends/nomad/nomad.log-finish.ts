import { LOG_PATIENCE, type LogBytes, type LogEnd, type LogPatience } from '../log-reading.js';
import { pause } from '../pause.js';
import type { LogSize, NomadLogTail } from './nomad.log.js';

type FinishedTail = Pick<NomadLogTail, 'next' | 'verify' | 'restart'>;

/** A log that seems short has more in a moment, or never. */
const SHORT_TRIES = 3;
/** How often a log that does not agree with its size is read from its beginning. */
const MOST_READINGS = 4;
/** A longer one is not: two of them are held to be compared. */
const MOST_REREAD_BYTES = 16 * 1_024 * 1_024;

/** Reads on to the end of a log, and from its beginning where what was read cannot be all of it. */
export async function* finishLog(
  tail: FinishedTail,
  signal: AbortSignal,
  patience = LOG_PATIENCE,
): AsyncGenerator<LogBytes, LogEnd> {
  const end = yield* readToEnd(tail, signal, patience);
  return end.kind === 'short' ? readAgain(tail, signal, patience) : end;
}

/** Two readings that agree, of the right size, are believed; of that size alone one may be in another order. */
async function readAgain(tail: FinishedTail, signal: AbortSignal, patience: LogPatience): Promise<LogEnd> {
  let before: Buffer | undefined;
  for (let reading = 1; reading <= MOST_READINGS; reading += 1) {
    tail.restart();
    const found = await collected(readToEnd(tail, signal, patience));
    if (!found) break;
    const { end, pieces } = found;
    if (end.kind !== 'complete' && end.kind !== 'short') return end;
    const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
    const isSame = before?.equals(bytes) === true;
    before = bytes;
    if (isSame && end.kind === 'complete') return { ...end, instead: pieces };
  }
  return { kind: 'short' };
}

/** Nothing if it is too long. */
async function collected(
  parts: AsyncGenerator<LogBytes, LogEnd>,
): Promise<{ end: LogEnd; pieces: LogBytes[] } | undefined> {
  const pieces: LogBytes[] = [];
  for (let size = 0; size <= MOST_REREAD_BYTES; size += pieces.at(-1)?.bytes.length ?? 0) {
    const part = await parts.next();
    if (part.done) return { end: part.value, pieces };
    pieces.push(part.value);
  }
  return undefined;
}

async function* readToEnd(
  tail: FinishedTail,
  signal: AbortSignal,
  { firstMs, longestMs, tries }: LogPatience,
): AsyncGenerator<LogBytes, LogEnd> {
  let tried = 0;
  let wasUntold = false;
  for (let delayMs = firstMs; ; delayMs = Math.min(longestMs, delayMs * 2)) {
    const read = await tail.next(signal);
    if (read.kind === 'bytes' && read.bytes.length > 0) {
      yield read;
      tried = 0;
      delayMs = firstMs / 2;
      continue;
    }
    let end: LogEnd;
    if (read.kind === 'bytes') {
      const size = await tail.verify(signal);
      // It may have been thrown away since it was read, which the log itself tells.
      const isAskedAgain = size === 'untold' && !wasUntold;
      wasUntold = size === 'untold';
      if (isAskedAgain) continue;
      end = WITHOUT_MORE[size];
    } else end = read;
    tried += 1;
    const most = end.kind === 'unreachable' ? tries : end.kind === 'short' ? SHORT_TRIES : 1;
    if (tried >= most) return end;
    await pause(delayMs, signal);
  }
}

const WITHOUT_MORE: Readonly<Record<LogSize, LogEnd>> = {
  whole: { kind: 'complete', isVerified: true },
  short: { kind: 'short' },
  unknown: { kind: 'complete', isVerified: false },
  untold: { kind: 'complete', isVerified: false },
};
