import { z } from 'zod';
import type { KeptBytes, LogStream } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';
import type { LogBytes, LogTrouble } from '../log-reading.js';
import type { NomadClient } from './nomad.client.js';
import { noNomad, refusalOf } from './nomad.failures.js';
import { FrameReader, type LogFrame } from './nomad.frames.js';
import { type Asked, LogAnswer, type LogPlace } from './nomad.log-answer.js';
import { logTroubleOf } from './nomad.log-status.js';
import { type LogFile, LogFiles, logFileIndex } from './nomad.rotation.js';

export type LogRead = LogBytes | LogTrouble;

/** What was read of a log, against the sizes of its files. */
export type LogSize = 'whole' | 'short' | 'unknown' | 'untold';

export interface LogTailOptions {
  client: Pick<NomadClient, 'get' | 'ask' | 'hasToken' | 'withoutToken'>;
  /** Its whole id. */
  allocation: string;
  task: string;
  stream: LogStream;
  /** Offset at which reading goes on. */
  from: number;
  /** No file of the log is longer. */
  fileBytes: number;
  /** What is kept of a longer log: what lies between may be left out. Absent: all of it matters. */
  keep?: KeptBytes;
}

/** More than any result record takes, which is the last that is written. */
const RECORD_BYTES = 16 * 1_024 * 1_024;
const DIRECTORY = 'alloc/logs';
const NOTHING = new Uint8Array();

const Listing = z.array(z.object({ Name: z.string(), Size: z.number() }));
const Stat = z.object({ Size: z.number() });

/**
 * Reads on in one stream of one allocation, by offset, a request a call: nothing is held open between calls. Offsets
 * stay those of what the job wrote when Nomad drops the oldest files, from which the offsets of its own API count.
 */
export class NomadLogTail {
  private readonly files: LogFiles;
  private place: LogPlace;
  /** Where the position is in the files that are there. */
  private isLocated: boolean;
  /** What the token may not ask for. */
  private readonly refused = new Set<'ls' | 'stat'>();
  /** There was more than the last answer holds. */
  isFarBehind = false;
  private isCut = false;
  private isDoubtful = false;

  constructor(private readonly options: LogTailOptions) {
    this.files = new LogFiles(options.fileBytes);
    this.place = { position: options.from, last: NOTHING };
    this.isLocated = options.from === 0;
  }

  /** End of what was read. */
  get seen(): number {
    return this.place.position;
  }

  /** Whether some of what was printed was dropped before it was read. */
  get isHeadCut(): boolean {
    return this.isCut;
  }

  /** The next piece, of a bounded size. Throws `ClusterFailure` where Nomad does not answer, or refuses. */
  async next(signal: AbortSignal): Promise<LogRead> {
    if (this.isFarBehind && this.isPastHead) await this.locate(signal);
    const read = this.isLocated ? await this.read(this.ask(), signal) : undefined;
    if (read) return read;
    if (await this.locate(signal)) {
      const again = await this.read(this.ask(), signal);
      if (again) return again;
    }
    // Where files may not be listed, the place is found by reading what was read before.
    return (await this.read('oldest', signal)) ?? { kind: 'bytes', at: this.seen, bytes: NOTHING };
  }

  /** Whether all of what Nomad has of it was read; `unknown` where the token may not look, `untold` for other reasons. */
  async verify(signal: AbortSignal): Promise<LogSize> {
    const end = await this.end(signal);
    if (this.isDoubtful) return 'short';
    if (end === undefined) return this.refused.has('stat') ? 'unknown' : 'untold';
    return end === this.seen ? 'whole' : 'short';
  }

  /** Reading begins anew, with the oldest byte that is left. */
  restart(): void {
    this.moveTo(this.files.startOf(this.files.oldest), { isDoubtful: false });
    this.isFarBehind = false;
  }

  private ask(): { at: number } {
    const { position, last } = this.place;
    const start = this.files.startOf(this.files.oldest);
    return { at: Math.max(start, position - Math.max(1, last.length)) };
  }

  /** What an answer adds; nothing if it is one of another place in the log. */
  private async read(asked: Asked, signal: AbortSignal): Promise<LogRead | undefined> {
    const answer = new LogAnswer(this.files, asked, this.place);
    const trouble = await this.pull(answer, asked, signal);
    if (answer.isElsewhere && answer.bytes === 0) {
      // What was read before reads otherwise now: reading goes on, and the log is not what it was.
      if (asked === 'oldest') this.moveTo(this.seen, { isDoubtful: true });
      return undefined;
    }
    if (trouble && answer.bytes === 0) return trouble;
    if (answer.isEmpty && asked !== 'oldest' && asked.at < this.seen) return undefined;
    const contents = answer.contents();
    if (answer.isCut) this.isCut = true;
    this.place = answer.placeAfter(contents);
    this.isLocated = true;
    this.isFarBehind = answer.isFull;
    return { kind: 'bytes', ...contents };
  }

  /** Whether the beginning, all of which is kept, has been read. */
  private get isPastHead(): boolean {
    return this.seen >= (this.options.keep?.head ?? Number.POSITIVE_INFINITY);
  }

  /** Fills an answer. What came before a connection was lost is part of it. */
  private async pull(answer: LogAnswer, asked: Asked, signal: AbortSignal): Promise<LogTrouble | undefined> {
    const { client, allocation, task, stream: type } = this.options;
    const offset = asked === 'oldest' ? 0 : asked.at - this.files.startOf(this.files.oldest);
    const query = { task, type, plain: 'false', follow: 'false', origin: 'start', offset };
    const frames = new FrameReader();
    const takeFrame = (frame: LogFrame): boolean => answer.take(frame);
    const take = (data: Buffer, kind: string): boolean => {
      if (/^text\/html/.test(kind)) throw noNomad();
      return /^text\//.test(kind) ? takeFrame({ data }) : frames.push(data).every(takeFrame) && !frames.isOver;
    };
    try {
      const reply = await client.ask('GET', `/v1/client/fs/logs/${allocation}`, { query, signal, take });
      const fault = reply.status === 200 ? frames.end() : undefined;
      if (reply.status === 200 && fault?.kind !== 'error') return undefined;
      const told = fault?.kind === 'error' ? { status: reply.status, text: client.withoutToken(fault.text) } : reply;
      const trouble = logTroubleOf(told);
      if (!trouble && answer.bytes === 0) throw refusalOf(told, client.hasToken);
      return trouble;
    } catch (error) {
      if (answer.bytes === 0 || !(error instanceof ClusterFailure)) throw error;
      return undefined;
    }
  }

  /** Finds the position among the files that are there. */
  private async locate(signal: AbortSignal): Promise<boolean> {
    const listed = await this.list(signal);
    if (!listed || listed.length === 0) return false;
    const end = this.files.list(listed);
    const start = this.files.startOf(this.files.oldest);
    if (this.seen < start) {
      this.isCut = true;
      this.moveTo(start);
    }
    this.isFarBehind = false;
    const endBytes = Math.max(RECORD_BYTES, this.options.keep?.tail ?? 0);
    if (this.isPastHead && end - this.seen > 2 * endBytes) this.moveTo(end - endBytes);
    this.isLocated = true;
    return true;
  }

  private moveTo(position: number, { isDoubtful = this.isDoubtful } = {}): void {
    this.isDoubtful = isDoubtful;
    this.place = { position, last: NOTHING };
  }

  /** Where the log ends by the sizes of its files. */
  private async end(signal: AbortSignal): Promise<number | undefined> {
    const listed = await this.list(signal);
    if (listed && listed.length > 0) return this.files.list(listed);
    const { task, stream } = this.options;
    const index = this.files.at(this.seen);
    const stat = await this.look('stat', Stat, `${DIRECTORY}/${task}.${stream}.${index}`, signal);
    return stat && this.files.startOf(index) + stat.Size;
  }

  /** The files of the log, the oldest first; nothing where they cannot be listed. */
  private async list(signal: AbortSignal): Promise<LogFile[] | undefined> {
    const { task, stream } = this.options;
    const listing = await this.look('ls', Listing, DIRECTORY, signal);
    const files = listing?.flatMap(({ Name, Size }) => {
      const index = Name.startsWith(`${task}.${stream}.`) ? logFileIndex(Name) : undefined;
      return index === undefined ? [] : [{ index, bytes: Size }];
    });
    return files?.sort((one, other) => one.index - other.index);
  }

  /** What Nomad says of a path; nothing where it says nothing, as to a token that may read logs and no files. */
  private async look<Shape extends z.ZodType>(verb: 'ls' | 'stat', shape: Shape, path: string, signal: AbortSignal) {
    if (this.refused.has(verb)) return undefined;
    const { client, allocation } = this.options;
    try {
      return await client.get(`/v1/client/fs/${verb}/${allocation}`, shape, { query: { path }, signal });
    } catch (error) {
      // What is no answer of that kind tells nothing, either.
      if (!(error instanceof ClusterFailure) || error.reason === 'unreachable') throw error;
      if (error.reason === 'auth') this.refused.add(verb);
      return undefined;
    }
  }
}
