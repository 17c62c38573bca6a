import type { LogMark } from '../../contracts/log-events.js';
import type { JobRecord } from '../../policy/record.js';
import type { AllocationEvent } from '../backend.js';
import type { LogEnd, LogPatience } from '../log-reading.js';
import { pause } from '../pause.js';
import { logged, ScannedOutput } from '../scanned-output.js';
import { K8sLog, type LogRead } from './k8s.log.js';
import { K8S_CONTAINER } from './k8s.names.js';
import type { Watching } from './k8s.watch.js';

/** Until a stream that ended is opened anew: later each time it brought nothing. */
const REOPEN_MS = 250;
const LONGEST_REOPEN_MS = 20_000;

/** What a pod prints, which is all one stream: read, and told as output and record. */
export class JobOutput {
  private readonly log: K8sLog;
  private readonly scanned: ScannedOutput;
  /** Offset up to which output was told. */
  private toldTo: number;
  /** Of what was read, and is not told yet. */
  private readonly marks: LogMark[] = [];
  /** The pod has ended: no stream is opened any more. */
  isLast = false;
  /** Once it was read. */
  record: JobRecord | undefined;

  /** `startedAt`: of its container, epoch ms. */
  constructor({ client, namespace, allocation, from }: Watching, pod: string, startedAt: number | undefined) {
    const { nonce, mark } = allocation;
    this.log = new K8sLog({
      ...{ client, namespace, pod, container: K8S_CONTAINER, from: from.stdout },
      ...(mark && { mark }),
      ...(startedAt !== undefined && { startedAt }),
    });
    this.scanned = new ScannedOutput(nonce, from.stdout);
    this.toldTo = from.stdout;
  }

  /** Why what looked like a record was none; absent if nothing did. */
  get fault(): string | undefined {
    return this.scanned.fault;
  }

  /** Whether some of it was dropped before it was read. */
  get isHeadCut(): boolean {
    return this.log.isHeadCut;
  }

  /** What it prints from now on. A stream that ends says nothing of the pod: another is opened, until `isLast`. */
  async *follow(signal: AbortSignal): AsyncGenerator<LogRead> {
    for (let pauseMs = REOPEN_MS; !signal.aborted; pauseMs = Math.min(LONGEST_REOPEN_MS, pauseMs * 2)) {
      for await (const read of this.log.follow(signal)) {
        if (read.kind === 'bytes' && read.bytes.length > 0) pauseMs = REOPEN_MS / 2;
        yield read;
      }
      if (this.isLast) return;
      await pause(pauseMs, signal);
    }
  }

  *told(read: LogRead): Generator<AllocationEvent> {
    if (read.kind !== 'bytes' || read.bytes.length === 0) return;
    const { plain, record } = this.scanned.take(read);
    this.record ??= record;
    yield* logged(plain);
    const last = plain.at(-1);
    if (last) this.toldTo = last.at + last.bytes.length;
    if (read.mark) this.marks.push(read.mark);
    yield* this.marked();
  }

  /** What the log still has, once nothing more is written to it. */
  async *finished(signal: AbortSignal, patience?: LogPatience): AsyncGenerator<AllocationEvent, LogEnd> {
    const parts = this.log.finish(signal, patience);
    for (;;) {
      const part = await parts.next();
      if (part.done) return part.value;
      yield* this.told(part.value);
    }
  }

  /** What was held back, once nothing more comes. */
  *rest(): Generator<AllocationEvent> {
    yield* logged(this.scanned.end());
  }

  /** The last place up to which all was told, if it was not noted yet. */
  private *marked(): Generator<AllocationEvent> {
    const behind = this.marks.filter(({ at }) => at <= this.toldTo);
    this.marks.splice(0, behind.length);
    const last = behind.at(-1);
    if (last) yield { kind: 'mark', ...last };
  }
}
