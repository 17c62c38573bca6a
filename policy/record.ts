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

function gradersOf(found: ReadonlyMap<Key, string[]>): JobRecord['graders'] {
  const outputs = new Map<number, string[]>();
  for (const entry of found.get('grader_output') ?? []) {
    const [index = '', hex = ''] = entry.split(' ');
    outputs.set(Number(index), [...(outputs.get(Number(index)) ?? []), hex]);
  }
  return (found.get('grader') ?? []).map((entry) => {
    const [index = 0, status = 0, timedOut = 0, ms = 0] = entry.split(' ').map(Number);
    return { index, status, timedOut: timedOut === 1, ms, output: hexBytes(outputs.get(index) ?? []) };
  });
}

/** The record that these lines are, nonce removed; undefined where they are not exactly one: never a guess. */
export function parseRecord(lines: readonly string[]): JobRecord | undefined {
  const found = linesByKey(lines);
  const one = (key: Key): string | undefined => found?.get(key)?.[0];
  const required = ['version', 'status', 'timer', 'setup_ms', 'command_ms', 'answer_from', 'answer_cut', 'leftovers'];
  if (!found || required.some((key) => !found.has(key as Key)) || Number(one('end')) !== lines.length) return undefined;
  const status = one('status');
  const [index, setupStatus] = (one('setup_failed') ?? '').split(' ').map(Number);
  const answerBytes = one('answer_bytes') ?? '-';
  const toolMissing = one('tool_missing');
  return {
    status: status === '-' ? null : Number(status),
    timer: one('timer') as JobRecord['timer'],
    ...(setupStatus !== undefined && index !== undefined && { setupFailed: { index, status: setupStatus } }),
    ...(toolMissing !== undefined && { toolMissing }),
    setupMs: Number(one('setup_ms')),
    commandMs: Number(one('command_ms')),
    answerFrom: one('answer_from') as JobRecord['answerFrom'],
    answer: hexBytes(found.get('answer') ?? []),
    answerCut: one('answer_cut') === '1',
    ...(answerBytes !== '-' && { answerBytes: Number(answerBytes) }),
    ...(found.has('usage_cut') && { usage: hexBytes(found.get('usage') ?? []), usageCut: one('usage_cut') === '1' }),
    graders: gradersOf(found),
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

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  if (head.length === 0) return tail;
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

/**
 * Splits a job's stdout into plain output and the lines of its record, in bounded memory whatever arrives. A line counts
 * only with the right nonce, after a newline (the first one is the record's own and no output) and up to 4,096 bytes;
 * everything else is output. The first valid record stands.
 */
export class RecordScanner {
  private readonly prefix: Uint8Array;
  private held: Uint8Array = new Uint8Array();
  private lines: string[] = [];
  private isAfterLine = false;
  private isDone = false;

  /** @param from Offset at which the bytes to be pushed begin. */
  constructor(
    nonce: string,
    private from = 0,
  ) {
    this.prefix = new TextEncoder().encode(`__EVERDICT_RESULT__ ${nonce} `);
  }

  /** Takes the next bytes; answers with the output among what is decided now, and the record once it is whole. */
  push(chunk: Uint8Array): { plain: PlainBytes[]; record?: JobRecord } {
    const bytes = joined(this.held, chunk);
    const plain: PlainBytes[] = [];
    let record: JobRecord | undefined;
    let start = 0;
    let newline = bytes.indexOf(NEWLINE);
    while (newline >= 0) {
      const end = this.lineEnd(bytes, newline);
      if (end === 'undecided') break;
      if (end === 'plain') {
        // The newline that ends a record line is not output either.
        if (this.isAfterLine && newline === start) start += 1;
        this.isAfterLine = false;
        newline = bytes.indexOf(NEWLINE, newline + 1);
        continue;
      }
      this.take(plain, bytes, start, newline);
      const line = bytes.subarray(newline + 1 + this.prefix.length, end);
      record = this.addLine(new TextDecoder().decode(line)) ?? record;
      start = end;
      newline = end;
      this.isAfterLine = true;
    }
    const decided = newline < 0 ? bytes.length : newline;
    this.take(plain, bytes, start, decided);
    this.held = bytes.slice(decided);
    this.from += decided;
    return { plain, record };
  }

  /** What was held back, once nothing more comes. */
  end(): PlainBytes[] {
    const bytes = this.isAfterLine ? this.held.subarray(1) : this.held;
    const at = this.from + (this.held.length - bytes.length);
    this.held = new Uint8Array();
    return bytes.length > 0 ? [{ at, bytes }] : [];
  }

  private take(plain: PlainBytes[], bytes: Uint8Array, start: number, end: number): void {
    if (end > start) plain.push({ at: this.from + start, bytes: bytes.subarray(start, end) });
  }

  /** Where the record line after this newline ends, if that is what follows. */
  private lineEnd(bytes: Uint8Array, newline: number): number | 'plain' | 'undecided' {
    const seen = Math.min(this.prefix.length, bytes.length - newline - 1);
    for (let at = 0; at < seen; at += 1) {
      if (bytes[newline + 1 + at] !== this.prefix[at]) return 'plain';
    }
    if (seen < this.prefix.length) return 'undecided';
    const limit = newline + 1 + MOST_LINE_BYTES;
    const end = bytes.subarray(0, limit).indexOf(NEWLINE, newline + 1);
    if (end >= 0) return end;
    return bytes.length < limit ? 'undecided' : 'plain';
  }

  private addLine(line: string): JobRecord | undefined {
    this.lines.push(line);
    if (!line.startsWith('end ')) return undefined;
    const record = this.isDone ? undefined : parseRecord(this.lines);
    this.isDone ||= record !== undefined;
    this.lines = [];
    return record;
  }
}
