import type { AllocationEvent, Watch } from '../backend.js';
import { pause } from '../pause.js';
import { logged, ScannedOutput } from '../scanned-output.js';
import { hasCode } from './local.errors.js';
import type { WrapperLife } from './local.life.js';
import type { JobPaths } from './local.state.js';
import { FileTail } from './local.tail.js';
import type { ReadingTurns } from './local.turns.js';

const SHORTEST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;
/** Pauses stay in proportion to the quiet before them: a short job is noticed soon, and a long one is cheap. */
const PAUSE_GROWTH = 1.25;
/** More than this from one job would fill the disk of the host for all. */
const MOST_OUTPUT_BYTES = 16 * 1_024 ** 3;
const TOO_MUCH = 'printed more than 16 GB, the most a local job may';

interface Follow extends Watch {
  paths: JobPaths;
  nonce: string;
  life: WrapperLife;
  /** Shared by all jobs of this process. */
  turns: ReadingTurns;
  /** Told of a part of a file that nobody needs any more. */
  giveBack(file: string, part: { from: number; to: number }): void;
}

/** Follows a job's output until its record or its end. */
export async function* followJob(follow: Follow): AsyncGenerator<AllocationEvent> {
  const { paths, from, keep } = follow;
  const tails: FileTail[] = [];
  try {
    const stdout = new FileTail(paths.stdout, from.stdout, keep);
    tails.push(stdout);
    const stderr = new FileTail(paths.stderr, from.stderr, keep);
    tails.push(stderr);
    yield* followStreams(follow, stdout, stderr);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await follow.life.lookWithoutDirectory();
    yield follow.life.end();
  } finally {
    for (const tail of tails) tail.close();
  }
}

/** The end is looked for between two reads that find nothing, so what was written before it is never missed. */
async function* followStreams(follow: Follow, stdout: FileTail, stderr: FileTail): AsyncGenerator<AllocationEvent> {
  const { nonce, life, from, signal, limitMs } = follow;
  const scanned = new ScannedOutput(nonce, from.stdout);
  let hasEnded = false;
  let overdueFrom: number | undefined;
  for (let pauseMs = SHORTEST_PAUSE_MS; !signal.aborted; ) {
    const begunAt = performance.now();
    const piece = await stdout.next();
    const out = piece && scanned.take(piece);
    if (out) yield* logged(out.plain);
    if (out?.record) {
      if (stdout.isSealed) {
        yield { kind: 'silent', detail: 'it was stopped before its record was read' };
        return;
      }
      yield* drain(stderr);
      yield { kind: 'record', record: out.record };
      return;
    }
    const err = await stderr.next();
    if (err) yield { kind: 'log', stream: 'stderr', ...err };
    // A worker that comes back late finds a record that was printed in time.
    const afterMs = life.ageMs;
    if (afterMs >= limitMs) overdueFrom ??= stdout.size;
    if (overdueFrom !== undefined && stdout.seen >= overdueFrom && !hasEnded && (await life.isRunning())) {
      yield { kind: 'overdue', afterMs };
      return;
    }

    if (out || err) {
      pauseMs = SHORTEST_PAUSE_MS;
      if (Math.max(stdout.seen, stderr.seen) < MOST_OUTPUT_BYTES) {
        if (stdout.isPastHead || stderr.isPastHead) await makeWay(follow, stdout, stderr, begunAt);
        continue;
      }
      yield { kind: 'failed', failure: { code: 'ABORTED', message: TOO_MUCH } };
      return;
    }
    if (hasEnded) {
      yield* logged(scanned.end());
      yield life.end(scanned.fault);
      return;
    }
    hasEnded = !(await life.isRunning());
    if (hasEnded) await life.drained(signal);
    else await pause(pauseMs, signal);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * PAUSE_GROWTH);
  }
}

/** A job that prints more than is kept of it leaves time, and disk, to the others. */
async function makeWay(
  { paths, turns, giveBack, signal }: Follow,
  stdout: FileTail,
  stderr: FileTail,
  begunAt: number,
): Promise<void> {
  const holes = { [paths.stdout]: stdout.takeHole(), [paths.stderr]: stderr.takeHole() };
  for (const [file, hole] of Object.entries(holes)) if (hole) giveBack(file, hole);
  await turns.rest(begunAt, signal);
}

/** What is there now; a job that goes on printing does not hold its own record up. */
async function* drain(stderr: FileTail): AsyncGenerator<AllocationEvent> {
  const { size } = stderr;
  for (let piece = await stderr.next(); piece; piece = await stderr.next()) {
    yield { kind: 'log', stream: 'stderr', ...piece };
    if (piece.at + piece.bytes.length >= size) return;
  }
}
