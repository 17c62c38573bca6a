import type { AllocationEvent, AllocationRef, Job, Watch } from '../backends/backend.js';
import type { Patience } from '../backends/cluster.js';
import { Egress } from '../backends/egress/guard.js';
import { NomadBackend } from '../backends/nomad/nomad.backend.js';
import { NomadClient } from '../backends/nomad/nomad.client.js';
import type { NomadRuntimeSpec } from '../contracts/runtime.js';
import { parseAllowList } from '../policy/addresses.js';
import { aNomadRuntime, PATIENCE } from './builders.js';
import { JOB_NAME, RUN_ID } from './scripted-nomad.js';

export const NONCE = 'c0ffee';
export const REF: AllocationRef = { name: JOB_NAME, nonce: NONCE };

export const aJob = (parts: Partial<Job> = {}): Job => ({
  payload: new Map([['wrapper.sh', Buffer.from('echo hi\n')]]),
  image: 'debian:12',
  resources: {},
  lifeMs: 60_000,
  owner: {
    deployment: 'dep',
    workspaceId: 'acme',
    runId: RUN_ID,
    caseId: 'c1',
    attempt: 1,
    expiresAt: 2_000_000_000_000,
  },
  ...parts,
});

/** What a wrapper prints last, of a command that ended with this status. */
export function recordText(status = 0, nonce = NONCE): string {
  const lines = ['version 1', `status ${status}`, 'timer none', 'setup_ms 0', 'command_ms 5'];
  lines.push('answer_from stdout', 'answer_bytes 2', 'answer_cut 0', 'answer 6869', 'leftovers 0');
  return `\n${[...lines, `end ${lines.length + 1}`].map((line) => `__EVERDICT_RESULT__ ${nonce} ${line}\n`).join('')}`;
}

export const egress = new Egress(parseAllowList('127.0.0.0/8').rules);

export interface Lab {
  client: NomadClient;
  backend: NomadBackend;
}

/** A backend as a worker has it. */
export function aLab(
  addr: string,
  {
    token,
    connections = 20,
    patience = {},
    ...spec
  }: Record<string, unknown> & {
    token?: string;
    connections?: number;
    patience?: Partial<Patience>;
  } = {},
): Lab {
  const runtime = aNomadRuntime({ addr, ...spec });
  if (runtime.kind !== 'nomad') throw new Error('the builder makes another kind');
  const parsed: NomadRuntimeSpec = runtime;
  const client = new NomadClient(parsed, { egress, connections, ...(token !== undefined && { token }) });
  return { client, backend: new NomadBackend(parsed, client, { ...PATIENCE, ...patience }) };
}

/** All that watching says. */
export async function watched(
  { backend }: Pick<Lab, 'backend'>,
  ref: AllocationRef = REF,
  watch: Partial<Watch> = {},
): Promise<AllocationEvent[]> {
  const events: AllocationEvent[] = [];
  const { signal } = new AbortController();
  const all = { from: { stdout: 0, stderr: 0 }, signal, limitMs: 3_600_000, ...watch };
  for await (const event of backend.watch(ref, all)) events.push(event);
  return events;
}

/** What was printed, by stream, as events say it. */
export const printed = (events: readonly AllocationEvent[], stream: 'stdout' | 'stderr' = 'stdout'): string =>
  Buffer.concat(
    events.flatMap((event) => (event.kind === 'log' && event.stream === stream ? [event.bytes] : [])),
  ).toString();

/** Backends of a test, on a Nomad that may be started later: their connections end with the test. */
export function labsAt(url: () => string) {
  const labs: Lab[] = [];
  afterEach(async () => {
    await Promise.all(labs.splice(0).map(({ client }) => client.close()));
  });
  const lab = (options: Parameters<typeof aLab>[1] = {}): Lab => {
    const made = aLab(url(), options);
    labs.push(made);
    return made;
  };
  return { labs, lab };
}

export const kinds = (events: readonly AllocationEvent[]): string[] => events.map(({ kind }) => kind);

/** Of the last event, which is returned itself where it is none. */
export function failureOf(events: readonly AllocationEvent[]) {
  const last = events.at(-1);
  return last?.kind === 'failed' ? last.failure : last;
}
