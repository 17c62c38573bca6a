import type { AllocationEvent, Backend, Job } from '../backends/backend.js';
import { createCluster } from '../backends/cluster.js';
import { Egress } from '../backends/egress/guard.js';
import { parseAllowList } from '../policy/addresses.js';
import { aNomadRuntime } from './builders.js';
import { aCaseJob, aCaseRef, type CaseTold, provenanceIn, toldBy } from './cases.js';
import type { Request, Script, ScriptedCases } from './nomad-script.js';

/** Stands in no request but as the credential. */
export const TOKEN = '5ec3e700-aaaa-4bbb-8ccc-dddddddddddd';
const egress = new Egress(parseAllowList('127.0.0.0/8').rules, async () => []);

export interface CaseOptions {
  patience?: { startMs: number; pullErrorMs: number };
  spec?: Record<string, unknown>;
  job?: Partial<Job>;
}

export interface CaseResult extends CaseTold {
  provenance: Record<string, unknown>;
  requests: Request[];
  /** Of the watch, ms. */
  tookMs: number;
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
  expect(await backend.submit(aCaseJob(owner, options.job), ref)).toBe('created');
  const events: AllocationEvent[] = [];
  const watch = { from: { stdout: 0, stderr: 0 }, signal: AbortSignal.timeout(60_000), limitMs: 3_600_000 };
  for await (const event of backend.watch(ref, watch)) events.push(event);
  const tookMs = performance.now() - begun;
  const told = { ...toldBy(events), tookMs };
  const provenance = { ...(await backend.provenance(ref)), ...provenanceIn(events) };
  await backend.stop(ref);
  const requests = nomad.about(ref.name);
  expectSilent(ref.name, requests, { ...told, provenance });
  return { ...told, provenance, requests };
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
