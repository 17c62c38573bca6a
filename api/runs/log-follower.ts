import { Injectable } from '@nestjs/common';
import { PlatformError } from '../../contracts/errors.js';
import {
  type AttemptEvent,
  type CutEvent,
  type EndEvent,
  type LogPosition,
  type LogStream,
  logPositionId,
  type PieceEvent,
} from '../../contracts/log-events.js';
import { type LogChunk, type LogStanding, LogStore } from '../../store/log.store.js';
import type { StreamEvent } from '../common/event-streams.js';
import { Pulse } from '../common/pulse.js';
import { SharedReads } from '../common/shared-reads.js';

/** How often a log that has no more is looked at again. With what a worker takes to store it, well below a second. */
const LOOK_EVERY_MS = 250;
/** Most bytes of one event, before base64. */
const PIECE_BYTES = 48 * 1_024;

interface Look {
  standing: LogStanding;
  chunks: LogChunk[];
}

/**
 * Follows the log of a run, from attempt to attempt, until the run is settled. A position (attempt, and an offset of
 * each stream) says all about a reader: what comes after it is the same, whoever asks and however often. Readers that
 * have caught up wake together and share one look.
 */
@Injectable()
export class LogFollower {
  private readonly pulse = new Pulse(LOOK_EVERY_MS);
  private readonly looks = new SharedReads<Look | undefined>();

  constructor(private readonly logs: LogStore) {}

  async *follow(
    runId: string,
    from: LogPosition,
    stream: LogStream | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    for (let position = from; !signal.aborted; ) {
      const look = await this.look(runId, position, stream);
      const { nextAttempt, outcome } = look?.standing ?? {};
      const reached = look ? yield* piecesOf(look, position) : position;
      if (reached !== position) {
        position = reached;
      } else if (look === undefined || look.chunks.length > 0) {
        await this.pulse.next(signal);
      } else if (nextAttempt !== undefined) {
        position = { attempt: nextAttempt, stdout: 0, stderr: 0 };
        yield { event: 'attempt', id: logPositionId(position), data: { attempt: nextAttempt } satisfies AttemptEvent };
      } else if (outcome !== undefined) {
        yield { event: 'end', id: logPositionId(position), data: { outcome } satisfies EndEvent };
        return;
      } else {
        await this.pulse.next(signal);
      }
    }
  }

  /** Nothing while the database is away: it will be asked again. */
  private look(runId: string, position: LogPosition, stream: LogStream | undefined): Promise<Look | undefined> {
    const { attempt, stdout, stderr } = position;
    const from = { ...(stream !== 'stderr' && { stdout }), ...(stream !== 'stdout' && { stderr }) };
    return this.looks.read([runId, logPositionId(position), stream].join(), async () => {
      try {
        // In this order: what is stored before an attempt is over is in a page that is read after.
        const standing = await this.logs.standing(runId, attempt);
        return { standing, chunks: await this.logs.page(runId, attempt, from, standing.isOver) };
      } catch (error) {
        if (error instanceof PlatformError && error.code === 'STORE_UNAVAILABLE') return undefined;
        throw error;
      }
    });
  }
}

/**
 * Sends what was looked at, and returns the position after it. While an attempt is open a gap may still be filled, so it
 * is not passed; after that it is a cut.
 */
function* piecesOf({ standing, chunks }: Look, from: LogPosition): Generator<StreamEvent, LogPosition> {
  let position = from;
  const held = new Set<LogStream>();
  for (const { stream, at, bytes } of chunks) {
    const missing = at - position[stream];
    if (missing > 0 && !standing.isOver) held.add(stream);
    if (held.has(stream)) continue;
    if (missing > 0) {
      const cut: CutEvent = { attempt: position.attempt, stream, at: position[stream], bytes: missing };
      position = { ...position, [stream]: at };
      yield { event: 'cut', id: logPositionId(position), data: cut };
    }
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      const piece = bytes.subarray(start, start + PIECE_BYTES);
      const base64 = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64');
      position = { ...position, [stream]: at + start + piece.length };
      const data: PieceEvent = { attempt: position.attempt, stream, at: at + start, base64 };
      yield { event: 'log', id: logPositionId(position), data };
    }
  }
  return position;
}
