import type { JobRecord } from '../../policy/record.js';
import type { PlainBytes } from '../../policy/record-scanner.js';
import type { AllocationEvent, LogStream } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';
import type { LogEnd, LogPatience } from '../log-reading.js';
import { logged, ScannedOutput } from '../scanned-output.js';
import { isPassing } from './nomad.failures.js';
import { LOG_FILE_MB, NOMAD_TASK } from './nomad.job.js';
import { type LogRead, NomadLogTail } from './nomad.log.js';
import { finishLog } from './nomad.log-finish.js';
import type { Watching } from './nomad.watch.js';

const FILE_BYTES = LOG_FILE_MB * 1_024 * 1_024;

/** What an allocation prints: its two logs, read, and told as output and record. */
export class JobOutput {
  private readonly tails: Record<LogStream, NomadLogTail>;
  private scanned: ScannedOutput;
  /** Once it was read. */
  record: JobRecord | undefined;

  constructor(
    private readonly watching: Watching,
    /** Whole id of the allocation. */
    private readonly id: string,
  ) {
    const { allocation, from } = watching;
    this.tails = { stdout: this.tail('stdout'), stderr: this.tail('stderr') };
    this.scanned = new ScannedOutput(allocation.nonce, from.stdout);
  }

  /** Why what looked like a record was none; absent if nothing did. */
  get fault(): string | undefined {
    return this.scanned.fault;
  }

  /** Whether some of stdout was dropped before it was read. */
  get isHeadCut(): boolean {
    return this.tails.stdout.isHeadCut;
  }

  /** The same of any stream. */
  get hasCut(): boolean {
    return this.isHeadCut || this.tails.stderr.isHeadCut;
  }

  /** Whether stdout has more than was read last. */
  get isFarBehind(): boolean {
    return this.tails.stdout.isFarBehind;
  }

  /** The next of a stream. That Nomad does not answer for it says nothing of the allocation. */
  async look(stream: LogStream, signal = this.watching.signal): Promise<LogRead> {
    try {
      return await this.tails[stream].next(signal);
    } catch (error) {
      if (!isPassing(error) || signal.aborted || !(error instanceof ClusterFailure)) throw error;
      return { kind: 'unreachable', text: error.message };
    }
  }

  *told(stream: LogStream, read: LogRead): Generator<AllocationEvent> {
    if (read.kind !== 'bytes' || read.bytes.length === 0) return;
    if (stream === 'stderr') {
      yield { kind: 'log', stream, at: read.at, bytes: read.bytes };
      return;
    }
    const { plain, record } = this.scanned.take(read);
    this.record ??= record;
    yield* logged(plain);
  }

  /** What a stream still has, once nothing more is written to it, and what it is where that was told wrongly. */
  async *finished(
    stream: LogStream,
    signal: AbortSignal,
    patience?: LogPatience,
  ): AsyncGenerator<AllocationEvent, LogEnd> {
    const { client, clock } = this.watching;
    const tail = this.tails[stream];
    const patient = {
      next: () => this.look(stream, signal),
      verify: () => client.patiently(signal, clock, () => tail.verify(signal)),
      restart: () => tail.restart(),
    };
    const parts = finishLog(patient, signal, patience);
    for (;;) {
      const part = await parts.next();
      if (!part.done) {
        yield* this.told(stream, part.value);
        continue;
      }
      const end = part.value;
      if (end.kind === 'complete' && end.instead) {
        yield { kind: 'corrected', stream, pieces: this.scannedAgain(stream, end.instead) };
      }
      return end;
    }
  }

  /** What was held back of stdout, once nothing more comes. */
  *rest(): Generator<AllocationEvent> {
    yield* logged(this.scanned.end());
  }

  private scannedAgain(stream: LogStream, pieces: readonly PlainBytes[]): readonly PlainBytes[] {
    if (stream === 'stderr') return pieces;
    this.scanned = new ScannedOutput(this.watching.allocation.nonce, pieces[0]?.at ?? 0);
    const plain = pieces.flatMap((piece) => {
      const taken = this.scanned.take(piece);
      this.record ??= taken.record;
      return taken.plain;
    });
    return [...plain, ...this.scanned.end()];
  }

  private tail(stream: LogStream): NomadLogTail {
    const { client, from, keep } = this.watching;
    return new NomadLogTail({
      ...{ client, allocation: this.id, task: NOMAD_TASK, stream, from: from[stream], fileBytes: FILE_BYTES },
      ...(keep && { keep }),
    });
  }
}
