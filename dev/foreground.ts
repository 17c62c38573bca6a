import path from 'node:path';
import { linesOf, unfinishedOf } from './census.js';
import { FAKE_K8S_SECRET, type FakeK8sProcess, startFakeK8s } from './fake-k8s-process.js';
import { FAKE_NOMAD_ENV, type FakeNomadProcess, startFakeNomad } from './fake-nomad-process.js';
import { aborted, onInterrupt } from './interrupt.js';
import { type Stack, startStack } from './launcher.js';

const API_PORT = 8787;
const TEMPORAL_UI_PORT = 8233;

export interface ForegroundOptions {
  dataDir: string;
  /** Absent: the default, or a free one if that is taken. */
  apiPort?: number;
  uiPort?: number;
  /** A fake Nomad is started beside the platform. */
  fakeNomadPort?: number;
  /** The same of a fake Kubernetes. */
  fakeK8sPort?: number;
  say(line: string): void;
}

/** Runs the stack until Ctrl-C. Whether it came up and was stopped by request. */
export async function runForeground({
  dataDir,
  apiPort,
  uiPort,
  fakeNomadPort,
  fakeK8sPort,
  say,
}: ForegroundOptions): Promise<boolean> {
  const interrupt = onInterrupt(say);
  let stack: Stack | undefined;
  let nomad: FakeNomadProcess | undefined;
  let k8s: FakeK8sProcess | undefined;
  try {
    say(`starting the platform; data and logs in ${dataDir}`);
    stack = await startStack({
      dataDir,
      ports: { api: apiPort ?? API_PORT, temporalUi: uiPort ?? TEMPORAL_UI_PORT },
      fixedPorts: [
        ...(apiPort === undefined ? [] : (['api'] as const)),
        ...(uiPort === undefined ? [] : (['temporalUi'] as const)),
      ],
      env: fakeNomadPort === undefined ? {} : FAKE_NOMAD_ENV,
      say,
      signal: interrupt.signal,
    });
    if (fakeNomadPort !== undefined) nomad = await startFakeNomad(dataDir, fakeNomadPort, interrupt.signal);
    if (fakeK8sPort !== undefined) k8s = await startFakeK8s(dataDir, fakeK8sPort, interrupt.signal);
    say(welcome(stack, dataDir, [...(nomad ? nomadLines(nomad) : []), ...(k8s ? k8sLines(k8s) : [])]));
    const failure = await Promise.race([aborted(interrupt.signal), stack.failed]);
    if (!failure) return true;
    say(`error: ${failure.message}`);
    return false;
  } catch (error) {
    if (interrupt.signal.aborted) return true;
    say(`error: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  } finally {
    await stack?.stop();
    await nomad?.stop();
    await k8s?.stop();
    if (stack) say('stopped; the data stays for the next start');
    interrupt.restore();
  }
}

const FIRST_STEPS = [
  '  npx everdict runtime add examples/runtimes/local.json',
  '  npx everdict dataset add examples/datasets/shell-tasks.jsonl',
  '  npx everdict harness add examples/harnesses/solver.json',
  '  npx everdict scorecard run --dataset shell-tasks --harness solver --runtime desk',
];
const dailySteps = (dir: string): string[] => [
  '  npx everdict scorecard list',
  `  npx everdict dev status${dir === path.resolve('.everdict') ? '' : ` --dir ${dir}`}`,
];

const nomadLines = ({ url, spec }: FakeNomadProcess): string[] => [
  `  Fake Nomad   ${url}   (npx everdict runtime add ${spec})`,
];
const k8sLines = ({ url, spec, token }: FakeK8sProcess): string[] => [
  `  Fake K8s     ${url}   (npx everdict secret set ${FAKE_K8S_SECRET} --use cluster --origin ${url} < ${token}`,
  `               npx everdict runtime add ${spec})`,
];

/** What goes on by itself, where things are, and what to type next. */
function welcome({ apiUrl, addresses, found }: Stack, dataDir: string, clusters: readonly string[]): string {
  const isElsewhere = !apiUrl.endsWith(`:${API_PORT}`);
  const unfinished = found && unfinishedOf(found);
  const lines = [
    ...(unfinished ? ['', `going on with ${unfinished}`, ...linesOf(found)] : []),
    '',
    `  API          ${apiUrl}   (docs: ${apiUrl}/docs)`,
    `  Temporal UI  ${addresses.temporalUiUrl ?? 'none'}`,
    `  Metrics      ${apiUrl}/metrics and, of the worker, ${addresses.workerMetricsUrl ?? 'none'}`,
    ...clusters,
    '  Access       development mode: no key is asked for, and only this machine is answered',
    '',
    'in another terminal:',
    ...(isElsewhere ? [`  export EVERDICT_URL=${apiUrl}`] : []),
    ...(found && found.scorecards > 0 ? dailySteps(dataDir) : FIRST_STEPS),
    '',
    'Ctrl-C stops everything.',
  ];
  return lines.join('\n');
}
