import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnv } from '../config/cli-env.js';
import { aborted, onInterrupt } from './interrupt.js';
import { type Stack, startStack } from './launcher.js';
import { endProcess, identify } from './process-id.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = path.join(ROOT, 'dist/cli/main.js');

/** Exit codes of `everdict scorecard run` that are a verdict. */
const VERDICTS = [0, 1, 2];

/** Something hangs if it takes this long; usually it is done in less than one. */
const LIMIT_MINUTES = 10;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a command line as a user would, in a process group of its own, so that Ctrl-C reaches the demo alone. */
async function everdict(stack: Stack, words: string[], signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  say(`\n$ everdict ${words.join(' ')}`);
  const child = spawn(process.execPath, [CLI, ...words], {
    cwd: ROOT,
    env: childEnv({ EVERDICT_URL: stack.apiUrl }),
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  const target = identify(child.pid ?? 0);
  const end = (): void => void endProcess(target, 'SIGTERM', 2_000);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const code = await ended;
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
  return code;
}

async function register(stack: Stack, signal: AbortSignal): Promise<void> {
  const files = [
    ['runtime', 'examples/runtimes/local.json'],
    ['dataset', 'examples/datasets/shell-tasks.jsonl'],
    ['harness', 'examples/harnesses/solver.json'],
    ['harness', 'examples/harnesses/hasty.json'],
  ];
  for (const [noun = '', file = ''] of files) {
    const code = await everdict(stack, [noun, 'add', file], signal);
    if (code !== 0) throw new Error(`registering ${file} ended with ${code}`);
  }
}

/** One scorecard for the harness that solves everything, one for the one that does not. */
async function evaluate(stack: Stack, signal: AbortSignal): Promise<void> {
  const words = ['scorecard', 'run', '--dataset', 'shell-tasks', '--runtime', 'desk', '--harness'];
  const solver = await everdict(stack, [...words, 'solver'], signal);
  if (solver !== 0) throw new Error(`the solver should pass every case, and its scorecard ended with ${solver}`);
  const hasty = await everdict(stack, [...words, 'hasty'], signal);
  if (!VERDICTS.includes(hasty)) throw new Error(`the scorecard of the hasty harness ended with ${hasty}`);
  say(`exit code ${hasty}: ${hasty === 1 ? 'some case failed' : 'cannot tell, since a case errored'}`);
}

function closing({ apiUrl, addresses }: Stack, isKept: boolean): string {
  const lines = [
    '',
    `API docs     ${apiUrl}/docs`,
    `Temporal UI  ${addresses.temporalUiUrl ?? 'none'}`,
    ...(isKept
      ? [
          '',
          'all of it stays up until Ctrl-C; in another terminal:',
          `  export EVERDICT_URL=${apiUrl}`,
          '  npx everdict scorecard list',
        ]
      : [
          '',
          'The demo is over and stops all of it. `npm run demo -- --keep` leaves it up to look around,',
          '`npx everdict dev` starts one for daily work.',
        ]),
  ];
  return lines.join('\n');
}

async function demo(isKept: boolean): Promise<number> {
  const interrupt = onInterrupt(say);
  const broken = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, broken.signal]);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'everdict-demo-'));
  let stack: Stack | undefined;
  let isFailed = false;
  try {
    say(`a whole platform on this machine; data and logs in ${dataDir}`);
    stack = await startStack({ dataDir, ports: { api: 8787, temporalUi: 8233 }, say, signal });
    void stack.failed.then((error) => broken.abort(error));
    const late = setTimeout(
      () => broken.abort(new Error(`not done after ${LIMIT_MINUTES} minutes`)),
      LIMIT_MINUTES * 60_000,
    ).unref();
    await register(stack, signal);
    await evaluate(stack, signal);
    clearTimeout(late);
    say(closing(stack, isKept));
    if (isKept) await aborted(signal);
    broken.signal.throwIfAborted();
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    isFailed = true;
    say(`\nthe demo failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await stack?.stop();
    if (isFailed) say(`logs are in ${path.join(dataDir, 'logs')}`);
    else await rm(dataDir, { recursive: true, force: true });
    interrupt.restore();
  }
}

process.exitCode = await demo(process.argv.includes('--keep'));
