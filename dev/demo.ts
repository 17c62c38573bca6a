import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { childEnv } from '../config/cli-env.js';
import { FAKE_K8S_SECRET, startFakeK8s } from './fake-k8s-process.js';
import { FAKE_NOMAD_ENV, startFakeNomad } from './fake-nomad-process.js';
import { aborted, onInterrupt } from './interrupt.js';
import { type Stack, startStack } from './launcher.js';
import { endProcess, identify } from './process-id.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = path.join(ROOT, 'dist/cli/main.js');

/** Exit codes of `everdict scorecard run` that are a verdict. */
const VERDICTS = [0, 1, 2];

/** Something hangs if it takes this long; usually it is done in less than one. */
const LIMIT_MINUTES = 10;

const RUNTIMES = ['local', 'nomad', 'k8s'] as const;

const USAGE = `npm run demo -- [options]

Starts a whole platform on this machine, runs two scorecards on it, and stops it again.

  --runtime <kind>  where the cases run: ${RUNTIMES.join(', ')} (${RUNTIMES[0]})
                      local  processes of the worker
                      nomad  jobs of a fake Nomad that is started beside the platform
                      k8s    the same of a fake Kubernetes
  --keep            leave it up until Ctrl-C
  --help            print this`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a command line as a user would, in a process group of its own, so that Ctrl-C reaches the demo alone. */
async function everdict(stack: Stack, words: string[], signal: AbortSignal, input?: string): Promise<number> {
  signal.throwIfAborted();
  say(`\n$ everdict ${words.join(' ')}${input === undefined ? '' : ` < ${input}`}`);
  const stdin = input === undefined ? 'ignore' : openSync(input, 'r');
  const child = spawn(process.execPath, [CLI, ...words], {
    cwd: ROOT,
    env: childEnv({ EVERDICT_URL: stack.apiUrl }),
    stdio: [stdin, 'inherit', 'inherit'],
    detached: true,
  });
  if (typeof stdin === 'number') closeSync(stdin);
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

/** Where the cases run: the file of the runtime, and its id. */
interface Place {
  spec: string;
  id: string;
  /** The secret that it names, and the file of its value. */
  secret?: { words: string[]; file: string };
  /** Of what was started for it. */
  lines: string[];
  stop(): Promise<void>;
}

async function placeOf(kind: DemoOptions['runtime'], dataDir: string, signal: AbortSignal): Promise<Place> {
  if (kind === 'local') return { spec: 'examples/runtimes/local.json', id: 'desk', lines: [], stop: async () => {} };
  if (kind === 'k8s') {
    const { url, spec, token, stop } = await startFakeK8s(dataDir, 0, signal);
    say(`  a fake Kubernetes answers at ${url}`);
    const secret = { words: ['secret', 'set', FAKE_K8S_SECRET, '--use', 'cluster', '--origin', url], file: token };
    return { spec, id: 'fake-k8s', secret, lines: [`fake K8s     ${url}`], stop };
  }
  const { url, spec, stop } = await startFakeNomad(dataDir, 0, signal);
  say(`  a fake Nomad answers at ${url}`);
  return { spec, id: 'fake-nomad', lines: [`fake Nomad   ${url}`], stop };
}

async function register(stack: Stack, place: Place, signal: AbortSignal): Promise<void> {
  const files = [
    ['runtime', place.spec],
    ['dataset', 'examples/datasets/shell-tasks.jsonl'],
    ['harness', 'examples/harnesses/solver.json'],
    ['harness', 'examples/harnesses/hasty.json'],
  ];
  const { secret } = place;
  if (secret && (await everdict(stack, secret.words, signal, secret.file)) !== 0) {
    throw new Error('the secret of the runtime could not be set');
  }
  for (const [noun = '', file = ''] of files) {
    const code = await everdict(stack, [noun, 'add', file], signal);
    if (code !== 0) throw new Error(`registering ${file} ended with ${code}`);
  }
}

/** One scorecard for the harness that solves everything, one for the one that does not. */
async function evaluate(stack: Stack, place: Place, signal: AbortSignal): Promise<void> {
  const words = ['scorecard', 'run', '--dataset', 'shell-tasks', '--runtime', place.id, '--harness'];
  const solver = await everdict(stack, [...words, 'solver'], signal);
  if (solver !== 0) throw new Error(`the solver should pass every case, and its scorecard ended with ${solver}`);
  const hasty = await everdict(stack, [...words, 'hasty'], signal);
  if (!VERDICTS.includes(hasty)) throw new Error(`the scorecard of the hasty harness ended with ${hasty}`);
  say(`exit code ${hasty}: ${hasty === 1 ? 'some case failed' : 'cannot tell, since a case errored'}`);
}

function closing({ apiUrl, addresses }: Stack, place: Place, isKept: boolean): string {
  const lines = [
    '',
    `API docs     ${apiUrl}/docs`,
    `Temporal UI  ${addresses.temporalUiUrl ?? 'none'}`,
    ...place.lines,
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

async function demo({ isKept, runtime }: DemoOptions): Promise<number> {
  const interrupt = onInterrupt(say);
  const broken = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, broken.signal]);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'everdict-demo-'));
  let stack: Stack | undefined;
  let place: Place | undefined;
  let isFailed = false;
  try {
    say(`a whole platform on this machine; data and logs in ${dataDir}`);
    const env = runtime === 'nomad' ? FAKE_NOMAD_ENV : {};
    stack = await startStack({ dataDir, ports: { api: 8787, temporalUi: 8233 }, env, say, signal });
    void stack.failed.then((error) => broken.abort(error));
    const late = setTimeout(
      () => broken.abort(new Error(`not done after ${LIMIT_MINUTES} minutes`)),
      LIMIT_MINUTES * 60_000,
    ).unref();
    place = await placeOf(runtime, dataDir, signal);
    await register(stack, place, signal);
    await evaluate(stack, place, signal);
    clearTimeout(late);
    say(closing(stack, place, isKept));
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
    await place?.stop();
    if (isFailed) say(`logs are in ${path.join(dataDir, 'logs')}`);
    else await rm(dataDir, { recursive: true, force: true });
    interrupt.restore();
  }
}

interface DemoOptions {
  isKept: boolean;
  runtime: (typeof RUNTIMES)[number];
}

/** `undefined`: it was asked how this is called. */
function optionsOf(args: string[]): DemoOptions | undefined {
  const { values } = parseArgs({
    args,
    options: {
      keep: { type: 'boolean' },
      runtime: { type: 'string', default: RUNTIMES[0] },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const runtime = RUNTIMES.find((kind) => kind === values.runtime);
  if (!runtime) throw new Error(`--runtime is ${JSON.stringify(values.runtime)}; it is one of: ${RUNTIMES.join(', ')}`);
  return { isKept: values.keep === true, runtime };
}

try {
  const options = optionsOf(process.argv.slice(2));
  if (options) process.exitCode = await demo(options);
  else say(USAGE);
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n\n${USAGE}\n`);
  process.exitCode = 3;
}
