import type { FileContent } from '../contracts/case.js';
import { GIT_CREDENTIAL_FILE, type GitCredential, gitCredentialFile } from './git-credential.js';
import { originOf } from './origins.js';
import { paramVariable } from './references.js';

/** Above this a task comes as a file only: an environment variable that large can keep a program from starting. */
export const TASK_ENV_BYTES = 102_400;

/** Bytes of the usage report that are kept. */
export const USAGE_LIMIT = 16_384;

/** Hex digits in one line of a file that is not text. */
const HEX_LINE = 128;

export interface PayloadTimers {
  setupSec: number;
  timeoutSec: number;
  graderSec: number;
  graceSec: number;
  lingerSec: number;
}

export interface VariableInput {
  runId: string;
  caseId: string;
  env: Readonly<Record<string, string>>;
  params: Readonly<Record<string, string | number | boolean>>;
  model?: string;
}

export interface PayloadInput extends VariableInput {
  /** Text of the wrapper, the same for every job. */
  wrapper: string;
  task: string;
  /** What the work directory begins with, by relative path. */
  files?: Readonly<Record<string, FileContent>>;
  git?: { url: string; ref: string };
  /** For the host of the repository, and for no other. */
  gitCredential?: GitCredential;
  setup: readonly string[];
  command: string;
  /** Scripts of the `command` graders, in order. */
  graders: readonly string[];
  workDir?: string;
  timers: PayloadTimers;
  /** Bytes of the answer that are kept; a multiple of 1,024. */
  answerLimit: number;
}

const encoder = new TextEncoder();

/** As one word of a shell, whatever it holds. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function settingsOf(input: PayloadInput): string {
  const { timers, git, workDir = '' } = input;
  const settings: [string, string | number][] = [
    ['run_id', input.runId],
    ['case_id', input.caseId],
    ['setup_count', input.setup.length],
    ['grader_count', input.graders.length],
    ['setup_sec', timers.setupSec],
    ['timeout_sec', timers.timeoutSec],
    ['grader_sec', timers.graderSec],
    ['grace_sec', timers.graceSec],
    ['linger_sec', timers.lingerSec],
    ['work_dir', workDir],
    ['task_in_env', encoder.encode(input.task).length > TASK_ENV_BYTES ? 0 : 1],
    ['needs_git', git ? 1 : 0],
    ['answer_limit', input.answerLimit],
    ['usage_limit', USAGE_LIMIT],
    ['grader_output_limit', 4_096],
  ];
  return settings.map(([name, value]) => `${name}=${quoted(String(value))}\n`).join('');
}

/** Variables that every job has, whatever starts it. */
export function jobVariables({ env, params, model, runId, caseId }: VariableInput): Record<string, string> {
  return {
    ...env,
    EVERDICT_RUN_ID: runId,
    EVERDICT_CASE_ID: caseId,
    ...Object.fromEntries(Object.entries(params).map(([name, value]) => [paramVariable(name), String(value)])),
    ...(model !== undefined && { EVERDICT_MODEL: model }),
  };
}

/** As lines that a shell reads. */
export const exportLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');

/**
 * Fetches the commit that was asked for and no more, as what came after it may hold the solution. Some servers hand out
 * branches and tags only, and none a short commit id. The credential is given to the host it is for and to no helper
 * that would keep it, and is gone before anything else of the case runs.
 */
function checkoutOf({ url, ref }: { url: string; ref: string }, hasCredential: boolean): string {
  const helper = `!f() { [ "$1" != get ] || cat "$EVERDICT_CREDENTIAL"; }; f`;
  const options = hasCredential
    ? `-c credential.helper= -c ${quoted(`credential.${originOf(url)}.helper=${helper}`)} `
    : '';
  const given = hasCredential
    ? `export EVERDICT_CREDENTIAL="\${0%/*}/${GIT_CREDENTIAL_FILE}"\ntrap 'rm -f "$EVERDICT_CREDENTIAL"' EXIT\n`
    : '';
  return `export GIT_TERMINAL_PROMPT=0
${given}git init -q . || exit
if git ${options}fetch -q --depth 1 -- ${quoted(url)} ${quoted(ref)}; then
  git checkout -q --detach FETCH_HEAD
  exit
fi
git ${options}fetch -q --tags -- ${quoted(url)} '+refs/heads/*:refs/remotes/origin/*' &&
  git checkout -q --detach ${quoted(ref)}
`;
}

const hexLines = (hex: string): string =>
  (hex.toLowerCase().match(new RegExp(`.{1,${HEX_LINE}}`, 'g')) ?? []).map((line) => `${line}\n`).join('');

/** Everything the wrapper reads, by flat file name, itself included. Binary files travel as hex. */
export function buildPayload(input: PayloadInput): Map<string, Uint8Array> {
  const payload = new Map<string, string>([
    ['wrapper.sh', input.wrapper],
    ['settings', settingsOf(input)],
    ['env', exportLines(jobVariables(input))],
    ['task', input.task],
    ['command', input.command],
  ]);
  if (input.git) payload.set('setup.0', checkoutOf(input.git, input.gitCredential !== undefined));
  if (input.gitCredential) payload.set(GIT_CREDENTIAL_FILE, gitCredentialFile(input.gitCredential));
  for (const [index, script] of input.setup.entries()) payload.set(`setup.${index + 1}`, script);
  for (const [index, script] of input.graders.entries()) payload.set(`grader.${index + 1}`, script);
  let manifest = '';
  for (const [index, [path, content]] of Object.entries(input.files ?? {}).entries()) {
    const isText = typeof content === 'string';
    manifest += `${index + 1} ${isText ? 'text' : 'hex'} ${path}\n`;
    payload.set(`file.${index + 1}`, isText ? content : hexLines(content.hex));
  }
  payload.set('files', manifest);
  return new Map([...payload].map(([name, text]) => [name, encoder.encode(text)]));
}

/** Size of a payload as limits count it. */
export const payloadBytes = (payload: ReadonlyMap<string, Uint8Array>): number =>
  [...payload.values()].reduce((sum, { length }) => sum + length, 0);
