import type { JobOwner } from '../backends/backend.js';
import { BackendResolver, type RuntimeTarget } from '../backends/resolver.js';
import { FakeNomad } from '../dev/fake-nomad/fake-nomad.js';
import { jobKey } from '../dev/fake-nomad/fake-state.js';
import type { Standings } from '../policy/sweep.js';
import { aNomadRuntime, PATIENCE } from '../test/builders.js';
import { eventually } from '../test/eventually.js';
import { aJob, aLab, egress } from '../test/nomad-jobs.js';
import { ClusterLeftovers } from './cluster-leftovers.js';
import { Leftovers } from './leftovers.js';

let nomad: FakeNomad;
let others = 0;
/** What the database knows. */
let known: Map<string, 'open' | 'closed'>;
beforeAll(async () => {
  nomad = await FakeNomad.start();
});
afterAll(() => nomad.stop());
beforeEach(() => {
  known = new Map();
  nomad.reset();
});

/** A job that runs, and its name. */
async function aRunningJob(owner: Partial<JobOwner> = {}, standing?: 'open' | 'closed'): Promise<string> {
  others += 1;
  const runId = `run_${String(others).padStart(26, '0')}`;
  const own = { ...aJob().owner, runId, expiresAt: Date.now() + 3_600_000, ...owner };
  const name = `${own.deployment}-${runId.replace('_', '-')}-1`;
  const lab = aLab(nomad.url);
  const payload = new Map([['wrapper.sh', Buffer.from('sleep 600\n')]]);
  await lab.backend.submit(aJob({ payload, owner: own }), { name, nonce: 'c0ffee' });
  await lab.client.close();
  if (standing) known.set(name, standing);
  await eventually(`${name} runs`, async () => nomad.ledger.starts.get(name) === 1);
  return name;
}

const target = (owner: string, addr = nomad.url): RuntimeTarget => ({
  owner,
  spec: aNomadRuntime({ addr }),
  isConfirmed: true,
});

async function sweep(clusters: RuntimeTarget[], graceMs = 0) {
  const backends = new BackendResolver({
    clusters: {
      credentials: { versionOf: async () => undefined, required: async () => undefined },
      ...{ deployment: 'dep', egress, nomadConnections: 8, patience: PATIENCE },
    },
  });
  const skipped: string[] = [];
  const standings = async (names: readonly string[]): Promise<Standings> =>
    new Map([...known].filter(([name]) => names.includes(name)));
  const removed = await new ClusterLeftovers({
    backends,
    sweep: { clusters: async () => clusters },
    leftovers: new Leftovers({ standings }, graceMs),
    deployment: 'dep',
    log: { info: () => undefined, warn: () => undefined },
    skipped: (kind, code) => skipped.push(`${kind} ${code}`),
  }).remove('nomad');
  backends.close();
  return { removed, skipped };
}

const isStopped = (name: string): boolean => nomad.cluster.state.jobs.get(jobKey('default', name))?.Stop === true;

test('jobs of closed attempts go, and those that are surely over; all others stay', async () => {
  const gone = [await aRunningJob({}, 'closed'), await aRunningJob({ expiresAt: Date.now() - 1 })];
  const staying = [
    await aRunningJob({}, 'open'),
    await aRunningJob(),
    await aRunningJob({ deployment: 'other' }, 'closed'),
    await aRunningJob({ workspaceId: 'rival' }, 'closed'),
  ];
  expect(await sweep([target('acme')], 60_000)).toEqual({ removed: 0, skipped: [] });
  expect(await sweep([target('acme')])).toEqual({ removed: 2, skipped: [] });
  expect([...gone, ...staying].filter(isStopped)).toEqual(gone);
  expect(nomad.ledger.purges).toEqual([]);
  expect(await sweep([target('_shared')])).toEqual({ removed: 1, skipped: [] });
  expect([...gone, ...staying].filter(isStopped)).toEqual([...gone, staying[3]]);
});

test('a cluster that does not answer is skipped, and holds up no other', async () => {
  const name = await aRunningJob({}, 'closed');
  const dead = target('acme', 'http://127.0.0.1:1');
  expect(await sweep([dead, target('acme')])).toEqual({ removed: 1, skipped: ['nomad CLUSTER_UNREACHABLE'] });
  expect(isStopped(name)).toBe(true);
});

test('a list is gone through page by page, those with nothing of ours, too', async () => {
  const name = await aRunningJob({}, 'closed');
  const page = { status: 200, body: [], headers: { 'x-nomad-nexttoken': 'a' } };
  nomad.fault({ method: 'GET', path: '/v1/jobs', fault: page, times: 3 });
  expect(await sweep([target('acme')])).toEqual({ removed: 1, skipped: [] });
  expect(isStopped(name)).toBe(true);
  const lists = nomad.requests.filter(({ method, path }) => method === 'GET' && path === '/v1/jobs');
  expect(lists.map(({ query }) => query.get('next_token'))).toEqual([null, 'a', 'a', 'a']);
});

test('a job that cannot be stopped holds up no other of its cluster, and is met again', async () => {
  const [stuck, other] = [await aRunningJob({}, 'closed'), await aRunningJob({}, 'closed')];
  nomad.fault({ method: 'DELETE', path: `/v1/job/${stuck}`, fault: { status: 403, body: 'Permission denied' } });
  expect(await sweep([target('acme')])).toEqual({ removed: 1, skipped: ['nomad CLUSTER_AUTH'] });
  expect([stuck, other].filter(isStopped)).toEqual([other]);
  nomad.reset();
  expect(await sweep([target('acme')])).toEqual({ removed: 1, skipped: [] });
});
