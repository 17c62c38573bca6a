/** What a job proves about itself: the result record, whose lines carry the attempt's nonce. */
export interface JobRecord {
  /** Exit status of the command, 0 to 255; null when it never ran. */
  status: number | null;
  /** Which timer fired. */
  timer: 'none' | 'setup' | 'command';
  /** The setup step that failed, from 1; 0 is the files and the checkout. */
  setupFailed?: { index: number; status: number };
  toolMissing?: string;
  setupMs: number;
  commandMs: number;
  answerFrom: 'file' | 'stdout';
  answer: Uint8Array;
  answerCut: boolean;
  /** Size before the cut; absent where it is not known. */
  answerBytes?: number;
  /** What the harness reported: JSON, if it kept its word. */
  usage?: Uint8Array;
  usageCut?: boolean;
  /** Outcomes of the `command` graders, `index` from 1. */
  graders: { index: number; status: number; timedOut: boolean; ms: number; output: Uint8Array }[];
  /** Processes that the command left and the wrapper killed. */
  leftovers: number;
}

const KEYS = {
  version: /^1$/,
  status: /^(-|\d{1,3})$/,
  timer: /^(none|setup|command)$/,
  setup_failed: /^\d{1,4} \d{1,3}$/,
  tool_missing: /^[\w.-]{1,64}$/,
  setup_ms: /^\d{1,12}$/,
  command_ms: /^\d{1,12}$/,
  answer_from: /^(file|stdout)$/,
  answer_bytes: /^(-|\d{1,15})$/,
  answer_cut: /^[01]$/,
  answer: /^([0-9a-f]{2})*$/,
  usage_cut: /^[01]$/,
  usage: /^([0-9a-f]{2})*$/,
  grader: /^\d{1,4} \d{1,3} [01] \d{1,12}$/,
  grader_output: /^\d{1,4} ([0-9a-f]{2})*$/,
  leftovers: /^\d{1,9}$/,
  end: /^\d{1,9}$/,
} as const;
type Key = keyof typeof KEYS;

const REPEATED: ReadonlySet<Key> = new Set(['answer', 'usage', 'grader', 'grader_output']);

function hexBytes(parts: readonly string[]): Uint8Array {
  const hex = parts.join('');
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  return bytes;
}

/** Every line in order, by key; undefined if one is not what a record may hold. */
function linesByKey(lines: readonly string[]): Map<Key, string[]> | undefined {
  const found = new Map<Key, string[]>();
  for (const line of lines) {
    const space = line.indexOf(' ');
    const key = line.slice(0, space) as Key;
    const value = line.slice(space + 1);
    if (space < 0 || !Object.hasOwn(KEYS, key) || !KEYS[key].test(value)) return undefined;
    const values = found.get(key);
    if (!values) found.set(key, [value]);
    else if (REPEATED.has(key)) values.push(value);
    else return undefined;
  }
  return found;
}

/** Numbered from 1 in order; undefined where one is missing, or where there is output of one that is not there. */
function gradersOf(found: ReadonlyMap<Key, string[]>): JobRecord['graders'] | undefined {
  const outcomes = (found.get('grader') ?? []).map((entry) => entry.split(' ').map(Number));
  const outputs: string[][] = outcomes.map(() => []);
  for (const entry of found.get('grader_output') ?? []) {
    const [index = '', hex = ''] = entry.split(' ');
    const output = outputs[Number(index) - 1];
    if (!output) return undefined;
    output.push(hex);
  }
  if (outcomes.some(([index], at) => index !== at + 1)) return undefined;
  return outcomes.map(([index = 0, status = 0, timedOut = 0, ms = 0], at) => {
    return { index, status, timedOut: timedOut === 1, ms, output: hexBytes(outputs[at] ?? []) };
  });
}

const REQUIRED: readonly Key[] = [
  'version',
  'status',
  'timer',
  'setup_ms',
  'command_ms',
  'answer_from',
  'answer_bytes',
  'answer_cut',
  'leftovers',
];

/** The record that these lines are, nonce removed; undefined where they are not exactly one: never a guess. */
export function parseRecord(lines: readonly string[]): JobRecord | undefined {
  const found = linesByKey(lines);
  const one = (key: Key): string => found?.get(key)?.[0] ?? '';
  if (!found || REQUIRED.some((key) => !found.has(key)) || Number(one('end')) !== lines.length) return undefined;
  const answer = hexBytes(found.get('answer') ?? []);
  const answerCut = one('answer_cut') === '1';
  const graders = gradersOf(found);
  if (!graders || (!answerCut && Number(one('answer_bytes')) !== answer.length)) return undefined;
  const [index = 0, setupStatus = 0] = one('setup_failed').split(' ').map(Number);
  return {
    status: one('status') === '-' ? null : Number(one('status')),
    timer: one('timer') as JobRecord['timer'],
    ...(found.has('setup_failed') && { setupFailed: { index, status: setupStatus } }),
    ...(found.has('tool_missing') && { toolMissing: one('tool_missing') }),
    setupMs: Number(one('setup_ms')),
    commandMs: Number(one('command_ms')),
    answerFrom: one('answer_from') as JobRecord['answerFrom'],
    answer,
    answerCut,
    ...(one('answer_bytes') !== '-' && { answerBytes: Number(one('answer_bytes')) }),
    ...(found.has('usage_cut') && { usage: hexBytes(found.get('usage') ?? []), usageCut: one('usage_cut') === '1' }),
    graders,
    leftovers: Number(one('leftovers')),
  };
}

export interface PlainBytes {
  /** Offset of the first byte in what the job wrote. */
  at: number;
  bytes: Uint8Array;
}

const NEWLINE = 10;
/** A record line, its own newline included. */
const MOST_LINE_BYTES = 4_096;
/** Several times what the wrapper can print, so that a job that knows its nonce does not fill our memory. */
const MOST_LINES = 4_096;

/**
 * Splits a job's stdout into plain output and the lines of its record, in bounded memory whatever arrives. A line counts
 * only with the right nonce and up to 4,096 bytes; everything else is output, but for the newline before the record.
 * The first valid record stands, and all that follows it is output.
 */
export class RecordScanner {
  private readonly prefix: Uint8Array;
  private readonly shifts: Uint16Array;
  private held: Uint8Array = new Uint8Array();
  private lines: string[] = [];
  private isDone = false;

  /** @param from Offset at which the bytes to be pushed begin. */
  constructor(
    nonce: string,
    private from = 0,
  ) {
    this.prefix = new TextEncoder().encode(`__EVERDICT_RESULT__ ${nonce} `);
    this.shifts = shiftsOf(this.prefix);
  }

  /**
   * Takes the next bytes; answers with the output among what is decided now, and the record once it is whole. The output
   * may share its memory with the bytes.
   */
  push(chunk: Uint8Array): { plain: PlainBytes[]; record?: JobRecord } {
    const bytes = joined(this.held, chunk);
    const plain: PlainBytes[] = [];
    let record: JobRecord | undefined;
    let start = 0;
    let line = this.find(bytes, 0);
    while (line >= 0) {
      const end = lineEnd(bytes, line);
      if (end === 'undecided') break;
      if (end === 'plain') {
        line = this.find(bytes, line + 1);
        continue;
      }
      const text = new TextDecoder().decode(bytes.subarray(line + this.prefix.length, end));
      const isOpening = text.startsWith('version ') && line > start && bytes[line - 1] === NEWLINE;
      this.take(plain, bytes, start, isOpening ? line - 1 : line);
      record ??= this.addLine(text);
      start = end + 1;
      line = this.find(bytes, start);
    }
    const decided = this.isDone ? bytes.length : this.undecidedFrom(bytes, start, line);
    this.take(plain, bytes, start, decided);
    // A copy also of a Buffer, whose own `slice` is a view of memory that its owner may use again.
    this.held = Uint8Array.from(bytes.subarray(decided));
    this.from += decided;
    return { plain, record };
  }

  /** What was held back, once nothing more comes. */
  end(): PlainBytes[] {
    const plain: PlainBytes[] = [];
    this.take(plain, this.held, 0, this.held.length);
    this.from += this.held.length;
    this.held = new Uint8Array();
    return plain;
  }

  private take(plain: PlainBytes[], bytes: Uint8Array, start: number, end: number): void {
    if (end > start) plain.push({ at: this.from + start, bytes: bytes.subarray(start, end) });
  }

  /** A record that began and was not finished gives way to the next: a log may be read again from an earlier point. */
  private addLine(line: string): JobRecord | undefined {
    if (line.startsWith('version ')) this.lines = [];
    if (this.lines.length < MOST_LINES) this.lines.push(line);
    if (!line.startsWith('end ')) return undefined;
    const record = parseRecord(this.lines);
    this.isDone = record !== undefined;
    this.lines = [];
    return record;
  }

  /** Where the prefix begins next, or -1. Looks at one byte in as many as the prefix has (Horspool). */
  private find(bytes: Uint8Array, start: number): number {
    const { prefix, shifts, isDone } = this;
    const last = prefix.length - 1;
    for (let at = isDone ? bytes.length : start + last; at < bytes.length; at += shifts[bytes[at] ?? 0] ?? 1) {
      if (bytes[at] === prefix[last] && canBegin(bytes, at - last, prefix)) return at - last;
    }
    return -1;
  }

  /** Where the end begins that more bytes may turn into a record line, or into the newline before one. */
  private undecidedFrom(bytes: Uint8Array, start: number, line: number): number {
    let at = line;
    if (at < 0) {
      at = Math.max(start, bytes.length - this.prefix.length + 1);
      while (at < bytes.length && !canBegin(bytes, at, this.prefix)) at += 1;
    }
    return at > start && bytes[at - 1] === NEWLINE ? at - 1 : at;
  }
}

/** Where the record line that begins here ends, if it is one. */
function lineEnd(bytes: Uint8Array, line: number): number | 'plain' | 'undecided' {
  const end = bytes.subarray(line, line + MOST_LINE_BYTES).indexOf(NEWLINE);
  if (end >= 0) return line + end;
  return bytes.length - line < MOST_LINE_BYTES ? 'undecided' : 'plain';
}

/** Whether the bytes from `at` are the prefix, as far as they go. */
function canBegin(bytes: Uint8Array, at: number, prefix: Uint8Array): boolean {
  const length = Math.min(prefix.length, bytes.length - at);
  for (let i = 0; i < length; i += 1) if (bytes[at + i] !== prefix[i]) return false;
  return true;
}

/** By the byte below its end, how far the prefix can move on without missing a place where it begins. */
function shiftsOf(prefix: Uint8Array): Uint16Array {
  const last = prefix.length - 1;
  const shifts = new Uint16Array(256).fill(prefix.length);
  for (const [at, byte] of prefix.subarray(0, last).entries()) shifts[byte] = last - at;
  return shifts;
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  if (head.length === 0) return tail;
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
