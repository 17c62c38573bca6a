import type { AllocationEvent, AllocationRef, Backend, Job } from '../backends/backend.js';
import { createCluster } from '../backends/cluster.js';
import { Egress } from '../backends/egress/guard.js';
import type { AttemptEnd } from '../contracts/attempt.js';
import { parseAllowList } from '../policy/addresses.js';
import { allocationName } from '../policy/naming.js';
import type { JobRecord } from '../policy/record.js';
import { verdictOf } from '../policy/results.js';
import { nextStep } from '../policy/retry.js';
import { aNomadRuntime } from './builders.js';
import type { Request, Script, ScriptedCases } from './nomad-script.js';

/** Stands in no request but as the credential. */
export const TOKEN = '5ec3e700-aaaa-4bbb-8ccc-dddddddddddd';
const NONCE = '00c0ffee00c0ffee';
const egress = new Egress(parseAllowList('127.0.0.0/8').rules, async () => []);

export interface CaseOptions {
  patience?: { startMs: number; pullErrorMs: number };
  spec?: Record<string, unknown>;
  job?: Partial<Job>;
}

export interface CaseResult {
  events: AllocationEvent[];
  /** `passed`, or class and code. */
  outcome: string;
  isRetried: boolean;
  reason: string;
  output: string;
  waiting: (string | undefined)[];
  provenance: Record<string, unknown>;
  requests: Request[];
  /** Of the watch, ms. */
  tookMs: number;
}

let counter = 0;

/** A name that nothing else has, whose parts are those of a job. */
export function aCaseRef(): { ref: AllocationRef; owner: Job['owner'] } {
  counter += 1;
  const runId = `run_${String(counter).padStart(26, '0')}`;
  const owner = { deployment: 'lab', workspaceId: 'acme', runId, caseId: 'c', attempt: 1, expiresAt: 2e12 };
  return { ref: { name: allocationName('lab', runId, 1), nonce: NONCE }, owner };
}

export const aNomadJob = (owner: Job['owner'], parts: Partial<Job> = {}): Job => ({
  payload: new Map([['wrapper.sh', Buffer.from('echo hello\n')]]),
  image: 'r/x:1',
  resources: {},
  lifeMs: 60_000,
  owner,
  ...parts,
});

/** A record as the wrapper prints it. */
export function printedRecord(status = 0): string {
  const lines = ['version 1', `status ${status}`, 'timer none', 'setup_ms 1', 'command_ms 2', 'answer_from stdout'];
  const all = [...lines, 'answer_bytes 0', 'answer_cut 0', 'leftovers 0'];
  return `\n${[...all, `end ${all.length + 1}`].map((line) => `__EVERDICT_RESULT__ ${NONCE} ${line}\n`).join('')}`;
}

/** The backend of a runtime at a server, while `work` has it. */
export async function withBackend<Result>(
  url: string,
  { spec = {}, patience = { startMs: 60_000, pullErrorMs: 60_000 } }: CaseOptions,
  work: (backend: Backend) => Promise<Result>,
): Promise<Result> {
  const runtime = aNomadRuntime({ addr: url, authSecret: 'nomad', ...spec });
  if (runtime.kind !== 'nomad') throw new Error('the builder makes another kind');
  const bound = { name: 'nomad', path: 'authSecret' as const, origins: [], version: 1, token: TOKEN };
  const { client, backend } = createCluster(runtime, bound, {
    deployment: 'dep',
    egress,
    nomadConnections: 20,
    patience,
  });
  if (!backend) throw new Error('it has no backend');
  try {
    return await work(backend);
  } finally {
    await client.close();
  }
}

/** One attempt under a script, from its submission until nothing of it is left; and what every case must hold. */
export async function runCase(nomad: ScriptedCases, script: Script, options: CaseOptions = {}): Promise<CaseResult> {
  return withBackend(nomad.url, options, (backend) => runOn(backend, nomad, script, options));
}

/** The same on a backend that others use, too. */
export async function runOn(
  backend: Backend,
  nomad: ScriptedCases,
  script: Script,
  options: CaseOptions = {},
): Promise<CaseResult> {
  const { ref, owner } = aCaseRef();
  nomad.script(ref.name, script);
  const begun = performance.now();
  expect(await backend.submit(aNomadJob(owner, options.job), ref)).toBe('created');
  const events: AllocationEvent[] = [];
  const watch = { from: { stdout: 0, stderr: 0 }, signal: AbortSignal.timeout(60_000), limitMs: 3_600_000 };
  for await (const event of backend.watch(ref, watch)) events.push(event);
  const tookMs = performance.now() - begun;
  const told = { ...resultOf(events), tookMs };
  const provenance = Object.assign(await backend.provenance(ref), ...events.map((event) => provenanceIn(event)));
  await backend.stop(ref);
  const requests = nomad.about(ref.name);
  expectSilent(ref.name, requests, { ...told, provenance });
  return { ...told, provenance, requests };
}

const provenanceIn = (event: AllocationEvent) => (event.kind === 'placed' ? event.provenance : {});

function resultOf(events: AllocationEvent[]) {
  const last = events.at(-1);
  const record: JobRecord | undefined = last?.kind === 'record' ? last.record : undefined;
  const end = last as AttemptEnd | undefined;
  if (!end) throw new Error('it has no end');
  const verdict = verdictOf({
    graders: [],
    end,
    ...(record && { record }),
    timeoutSec: 60,
    setupSec: 60,
    graderSec: 60,
  });
  const output = events.flatMap((event) => (event.kind === 'log' && event.stream === 'stdout' ? [event.bytes] : []));
  return {
    events,
    outcome: verdict.outcome === 'errored' ? `${verdict.errorClass} ${verdict.errorCode}` : verdict.outcome,
    isRetried: nextStep(verdict, 1, 2).kind === 'retry',
    reason: ('reason' in verdict && verdict.reason) || '',
    output: Buffer.concat(output).toString('utf8'),
    waiting: events.flatMap((event) => (event.kind === 'waiting' ? [event.detail] : [])),
  };
}

/** Nothing of it is left alive, nothing is purged, and the credential is where it belongs and nowhere else. */
function expectSilent(name: string, requests: Request[], told: object): void {
  expect(requests.filter(({ query }) => query.has('purge'))).toEqual([]);
  expect(requests.filter(({ method, path }) => method === 'PUT' && path === '/v1/jobs').length).toBe(1);
  const deregistered = requests.filter(({ method }) => method === 'DELETE');
  expect(deregistered.every(({ path }) => path === `/v1/job/${name}`)).toBe(true);
  const last = requests.at(-1);
  expect([last?.method, last?.path]).toEqual(['GET', `/v1/job/${name}/allocations`]);
  expect(requests.every(({ token }) => token === TOKEN)).toBe(true);
  const bytes = JSON.stringify([requests.map(({ path, query, body }) => [path, String(query), body]), told]);
  for (const secret of [TOKEN, Buffer.from(TOKEN).toString('base64')]) expect(bytes).not.toContain(secret);
}
