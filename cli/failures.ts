import { EXIT, type ExitCode } from './exit-codes.js';
import { plain } from './text.js';
import type { Problem } from './wire.js';

/** Faults of an input that are printed; a dataset can have one for each of its cases. */
const SHOWN_FAULTS = 20;

/** Why a command could not do its work: what happened, and the next step. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    /** What to do about it, a sentence. */
    readonly nextStep?: string,
    readonly problem?: Problem,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export const usageError = (message: string, nextStep?: string): CliError =>
  new CliError(EXIT.refused, message, nextStep);

/** Nobody answered, or something on the way failed. `reason` is short: `ECONNREFUSED`, `no answer in 30 s`. */
export function unreachable(url: string, reason: string, cause?: unknown): CliError {
  const nextStep = 'start it with `npx everdict dev`, or set EVERDICT_URL (or --url) to where it runs';
  return new CliError(EXIT.unreachable, `no Everdict platform answers at ${url} (${reason})`, nextStep, undefined, {
    cause,
  });
}

const NEXT_STEPS: Record<string, string> = {
  NOT_FOUND:
    'see what there is with `npx everdict scorecard list`, or `list` of runtime, dataset, harness, run, baseline, policy or gate',
  NOT_COMPARABLE: 'compare the cases that are the same on both sides with `--on intersection`, or two that match',
  RUNTIME_REQUIRED: 'say where to run with --runtime <id>; `npx everdict runtime list` shows what is registered',
  TOO_MANY_REQUESTS: 'ask less often; a script may wait as long as `Retry-After` says',
  QUEUE_FULL: 'wait until some have settled, or cancel what is not needed; `npx everdict scorecard list` shows it all',
  NO_CASES: 'no case is left: loosen what selects them, --case, --tag or --limit, or of a retry --class',
  UNAUTHENTICATED:
    'log in with `npx everdict login`, or set EVERDICT_API_KEY; a GitHub workflow needs `permissions: id-token: write`',
  FORBIDDEN: '`npx everdict whoami` shows who you are there and what you may; an admin gives another role or key',
  WORKSPACE_REQUIRED:
    'choose with --workspace or EVERDICT_WORKSPACE, or for good with `npx everdict workspace use <id>`',
};

/** The platform answered with an error. */
export function refused(status: number, problem: Problem): CliError {
  const isPlatformTrouble = status >= 500 && status !== 501;
  const detail = problem.detail ?? problem.title ?? `the platform answered ${status}`;
  const nextStep = isPlatformTrouble
    ? 'try again; `npx everdict dev` names its log files'
    : NEXT_STEPS[problem.code ?? ''];
  return new CliError(isPlatformTrouble ? EXIT.unreachable : EXIT.refused, detail, nextStep, problem);
}

/** The text for people: the message, each fault with its place, the next step. */
export function describeFailure(error: CliError): string {
  const { message, nextStep, problem } = error;
  const faults = (problem?.errors ?? []).map(({ path, message: what }) => (path ? `${path}: ${what}` : what));
  const lines = [`error: ${plain(headOf(message, faults))}${problem?.code ? ` (${plain(problem.code)})` : ''}`];
  for (const fault of faults.slice(0, SHOWN_FAULTS)) lines.push(`  ${plain(fault)}`);
  if (faults.length > SHOWN_FAULTS) lines.push(`  … and ${faults.length - SHOWN_FAULTS} more`);
  if (nextStep) lines.push(`next: ${nextStep}`);
  return `${lines.join('\n')}\n`;
}

/** A message that goes on to repeat the faults ends where they begin: they follow one a line. */
function headOf(message: string, [first = '']: readonly string[]): string {
  const at = first ? message.indexOf(first) : -1;
  return at > 0 ? message.slice(0, at).replace(/[:\s]+$/, '') : message;
}

/** The same for programs, as the one document on stdout. */
export const failureDocument = ({ exitCode, message, nextStep, problem }: CliError) => ({
  error: { ...problem, code: problem?.code ?? codeOf(exitCode), detail: message, nextStep, exitCode },
});

const codeOf = (exitCode: ExitCode): string => {
  if (exitCode === EXIT.unreachable) return 'UNREACHABLE';
  return exitCode === EXIT.interrupted ? 'INTERRUPTED' : 'USAGE';
};

/** Ctrl-C, or the end of a CI job. */
export const stoppedByHand = (what = 'nothing is known to be submitted', nextStep?: string): CliError =>
  new CliError(EXIT.interrupted, `interrupted; ${what}`, nextStep);

/** Ctrl-C ends the waiting, and not what was waited for. */
export const stoppedWaiting = (what: 'run' | 'scorecard', id: string): CliError =>
  new CliError(
    EXIT.interrupted,
    `stopped waiting; ${what} ${id} goes on`,
    `npx everdict ${what} watch ${id}, or npx everdict ${what} cancel ${id}`,
  );
