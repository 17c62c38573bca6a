import { RecordScanner } from '../../policy/record-scanner.js';
import type { AllocationEvent, Watch } from '../backend.js';
import { hasCode } from './local.errors.js';
import type { WrapperLife } from './local.life.js';
import { pause } from './local.pause.js';
import type { JobPaths } from './local.state.js';
import { FileTail } from './local.tail.js';

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
}

/** Follows a job's output until its record or its end. */
export async function* followJob(follow: Follow): AsyncGenerator<AllocationEvent> {
  const { paths, from } = follow;
  const tails: FileTail[] = [];
  try {
    const stdout = new FileTail(paths.stdout, from.stdout);
    tails.push(stdout);
    const stderr = new FileTail(paths.stderr, from.stderr);
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
  const scanner = new RecordScanner(nonce, from.stdout);
  let hasEnded = false;
  let overdueFrom: number | undefined;
  for (let pauseMs = SHORTEST_PAUSE_MS; !signal.aborted; ) {
    const out = await stdout.next();
    const { plain, record } = out ? scanner.push(out.bytes) : { plain: [], record: undefined };
    for (const { at, bytes } of plain) yield { kind: 'log', stream: 'stdout', at, bytes };
    if (record) {
      yield* drain(stderr);
      yield { kind: 'record', record };
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
      if (Math.max(stdout.seen, stderr.seen) < MOST_OUTPUT_BYTES) continue;
      yield { kind: 'failed', failure: { code: 'ABORTED', message: TOO_MUCH } };
      return;
    }
    if (hasEnded) {
      for (const { at, bytes } of scanner.end()) yield { kind: 'log', stream: 'stdout', at, bytes };
      yield life.end(scanner.fault);
      return;
    }
    hasEnded = !(await life.isRunning());
    if (hasEnded) await life.drained(signal);
    else await pause(pauseMs, signal);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * PAUSE_GROWTH);
  }
}

/** What is there now; a job that goes on printing does not hold its own record up. */
async function* drain(stderr: FileTail): AsyncGenerator<AllocationEvent> {
  const { size } = stderr;
  for (let piece = await stderr.next(); piece; piece = await stderr.next()) {
    yield { kind: 'log', stream: 'stderr', ...piece };
    if (piece.at + piece.bytes.length >= size) return;
  }
}
