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
  /** Some of what the job printed could not be written: the disk of its host was full. */
  isLost?: boolean;
  /** Outcomes of the `command` graders, `index` from 1. */
  graders: { index: number; status: number; timedOut: boolean; ms: number; output: Uint8Array }[];
  /** The shell could not make sense of the command. */
  isUnparsable?: boolean;
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
  lost: /^1$/,
  usage_cut: /^[01]$/,
  usage: /^([0-9a-f]{2})*$/,
  unparsable: /^1$/,
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

const excerpt = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Every line in order, by key; or why one is not what a record may hold. */
function linesByKey(lines: readonly string[]): Map<Key, string[]> | string {
  const found = new Map<Key, string[]>();
  for (const [index, line] of lines.entries()) {
    const space = line.indexOf(' ');
    const key = line.slice(0, space) as Key;
    const value = line.slice(space + 1);
    if (space < 0 || !Object.hasOwn(KEYS, key))
      return `line ${index + 1} begins with no key of a record: ${excerpt(line)}`;
    if (!KEYS[key].test(value)) return `\`${key}\` may not be ${excerpt(value)}`;
    const values = found.get(key);
    if (!values) found.set(key, [value]);
    else if (REPEATED.has(key)) values.push(value);
    else return `\`${key}\` is there twice`;
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
  'end',
];

/** The record that these lines are, nonce removed; or why they are not exactly one: never a guess. */
export function readRecord(lines: readonly string[]): JobRecord | string {
  const found = linesByKey(lines);
  if (typeof found === 'string') return found;
  const one = (key: Key): string => found.get(key)?.[0] ?? '';
  const missing = REQUIRED.find((key) => !found.has(key));
  if (missing) return `\`${missing}\` is missing`;
  if (Number(one('end')) !== lines.length) return `\`end\` says ${one('end')} lines, and there are ${lines.length}`;
  const answer = hexBytes(found.get('answer') ?? []);
  const answerCut = one('answer_cut') === '1';
  const graders = gradersOf(found);
  if (!graders) return '`grader` lines are not numbered from 1';
  if (!answerCut && Number(one('answer_bytes')) !== answer.length) {
    return `\`answer_bytes\` says ${one('answer_bytes')}, and the answer has ${answer.length}`;
  }
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
    ...(found.has('lost') && { isLost: true }),
    graders,
    ...(found.has('unparsable') && { isUnparsable: true }),
    leftovers: Number(one('leftovers')),
  };
}

/** What the wrapper cuts by itself, and a program that prints its own record may not. */
export function cutRecord(record: JobRecord, { answerLimit, usageLimit }: RecordLimits): JobRecord {
  const { answer, usage } = record;
  return {
    ...record,
    ...(answer.length > answerLimit && { answer: answer.subarray(0, answerLimit), answerCut: true }),
    ...(usage && usage.length > usageLimit && { usage: usage.subarray(0, usageLimit), usageCut: true }),
  };
}

/** In bytes. */
export interface RecordLimits {
  answerLimit: number;
  usageLimit: number;
}
