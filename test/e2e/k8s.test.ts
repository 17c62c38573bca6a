import type { RunView } from '../../contracts/run.js';
import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import { FakeSite } from '../../dev/fake-k8s/fake-site.js';
import { startStack } from '../../dev/launcher.js';
import { allocationName } from '../../policy/naming.js';
import { eventually } from '../eventually.js';
import { ACCOUNT, NAMESPACE } from '../k8s-case.js';
import { E2ePlatform, MINUTE, type Registered } from './platform.js';

const TOKEN = 'kube-token';
/** May look, and run nothing. */
const LOOKER = { ...ACCOUNT, rights: ['list pods'] };
const UNLISTED = 'https://unlisted.example.test';
const OURS = 'everdict.dev/deployment';
/** Of a run that nobody knows. */
const GONE = allocationName('everdict', 'run_00000000000000000000000001', 1);

let platform: E2ePlatform;
let site: FakeSite;
const certificates = makeCertificates();
beforeAll(async () => {
  const accounts = { [TOKEN]: ACCOUNT, looker: LOOKER };
  site = await FakeSite.start({ certificates, accounts, namespaces: [NAMESPACE] });
  const env = {
    ...{
      EVERDICT_UNREACHABLE_SEC: '15',
      EVERDICT_CLEANUP_SEC: '3',
      EVERDICT_SWEEP_SEC: '2',
      EVERDICT_PULL_PATIENCE_SEC: '1',
    },
    EVERDICT_NETWORK_POLICY_CLUSTERS: `https://other.example.test, ${site.fake.url}/`,
  };
  platform = await E2ePlatform.start((options) => startStack({ ...options, env: { ...options.env, ...env } }));
  for (const [name, value] of Object.entries({ kube: TOKEN, looks: 'looker', expired: 'of-yesterday' })) {
    await platform.ok('PUT', `/secrets/${name}`, { use: 'cluster', value, origins: [site.fake.url] });
  }
  await platform.ok('PUT', '/secrets/elsewhere', { use: 'cluster', value: TOKEN, origins: [UNLISTED] });
}, 2 * MINUTE);
afterAll(async () => {
  await platform.stop();
  await site.close();
}, MINUTE);
beforeEach(() => site.fake.reset());

type Parts = Record<string, unknown>;
const spec = (parts: Parts = {}): Parts => ({
  ...{ kind: 'k8s', server: site.fake.url, authSecret: 'kube', caCert: certificates.ca, namespace: NAMESPACE },
  ...{ image: 'debian:12', maxConcurrent: 8, ...parts },
});
const register = (cases: Parts[], runtime: Parts = {}): Promise<Registered> =>
  platform.register({ harness: { command: '. "$EVERDICT_TASK_FILE"' }, cases, runtime: spec(runtime) });
const endsOf = (runs: readonly RunView[]) =>
  runs.map(({ outcome, errorClass, errorCode }) => [outcome, errorClass, errorCode].filter(Boolean).join(' '));

async function expectNothingLeft(id: string, { runtime }: Registered): Promise<void> {
  await platform.expectNothingLeft(id, runtime);
  expect(site.fake.ledger.left(OURS, 'everdict')).toEqual([]);
}

test(
  'E03 a scorecard has each case’s own end: passed, failed, without image, evicted, out of memory, silent',
  async () => {
    site.kubelets.images.rules.set('reg.test/nope:0', 'not-found');
    const request = await register([
      { id: 'passes', task: 'echo fine' },
      { id: 'fails', task: 'exit 3' },
      { id: 'lacks its image', task: 'true', image: 'reg.test/nope:0' },
      { id: 'is evicted', task: 'touch started; sleep 600' },
      { id: 'runs out of memory', task: 'sleep 600' },
      { id: 'kills its wrapper', task: 'kill -9 $PPID; kill -9 0' },
    ]);
    const id = await platform.submit({ ...request, infraRetries: 0 });
    for (const [index, befall] of [
      [3, (name: string) => site.nodes.evict(name)],
      [4, (name: string) => site.nodes.outOfMemory(name)],
    ] as const) {
      const name = await eventually(`case ${index} runs`, async () => {
        const [attempt] = await platform.attempts(`${id}.${index}`);
        return attempt?.placedAs ? attempt.allocation : undefined;
      });
      befall(name);
    }
    const { counts } = await platform.completed(id);
    expect(counts).toMatchObject({ passed: 1, failed: 1, errored: 4 });
    const runs = await platform.runs(id);
    expect(endsOf(runs)).toEqual([
      'passed',
      'failed',
      'errored config IMAGE_UNAVAILABLE',
      'errored infra EVICTED',
      'errored config OOM_KILLED',
      'errored agent ABORTED',
    ]);
    expect(runs[2]?.reason).toContain('reg.test/nope:0');
    expect((await platform.attempts(`${id}.0`))[0]?.provenance).toMatchObject({ namespace: NAMESPACE, node: 'node-1' });
    await expectNothingLeft(id, request);
  },
  2 * MINUTE,
);

test(
  'a Kubernetes that is down for a while delays a batch, fails none of its cases, and starts none twice',
  async () => {
    const request = await register(Array.from({ length: 20 }, (_, n) => ({ id: `case-${n}`, task: `sleep ${n % 3}` })));
    const id = await platform.submit(request);
    await platform.until(id, 'is under way', ({ counts }) => counts.settled >= 4);
    await site.fake.pause();
    const down = performance.now();
    await eventually('the outage has lasted', async () => performance.now() - down > 6_000, 20_000);
    await site.fake.resume();
    expect((await platform.completed(id)).counts).toMatchObject({ passed: 20, errored: 0 });
    const runs = await platform.runs(id);
    expect(runs.filter(({ attempts }) => attempts !== 1)).toEqual([]);
    const names = (await Promise.all(runs.map((run) => platform.attempts(run.id)))).flat();
    expect(names.map(({ allocation }) => site.fake.ledger.starts.get(allocation))).toEqual(names.map(() => 1));
    await eventually('the sweep has confirmed what was left', async () => {
      const open = await platform.sql('SELECT FROM attempts WHERE closed_at IS NULL');
      return open.length === 0;
    });
    await expectNothingLeft(id, request);
  },
  3 * MINUTE,
);

test(
  'a run that is not placed says why, in the words of its cluster, until it is cancelled',
  async () => {
    const request = await register([{ id: 'case', task: 'true', resources: { memoryMb: 90_000_000 } }]);
    const id = await platform.submit(request);
    const run = `${id}.0`;
    const waiting = await eventually('it says why', async () => {
      const { body } = await platform.call<{ reason: string; note?: string | null }>('GET', `/runs/${run}/waiting`);
      return body.note ? body : undefined;
    });
    expect(waiting).toMatchObject({ reason: 'placement', note: expect.stringMatching(/Insufficient memory/) });
    expect(await platform.run(run)).toMatchObject({ state: 'running', placement: waiting.note });
    expect((await platform.attempts(run))[0]).toMatchObject({ placedAs: null, waiting: waiting.note });
    await platform.ok('POST', `/runs/${run}/cancel`);
    expect((await platform.completed(id)).counts).toMatchObject({ cancelled: 1 });
    await expectNothingLeft(id, request);
  },
  MINUTE,
);

test(
  'what is expired and nobody’s is swept by its labels alone',
  async () => {
    const labels = {
      ...{ app: 'everdict', [OURS]: 'everdict', 'everdict.dev/workspace': 'default' },
      ...{ 'everdict.dev/run': 'run_00000000000000000000000001', 'everdict.dev/attempt': '1' },
      ...{ 'everdict.dev/allocation': GONE, 'everdict.dev/expires': '2026-01-01T00.00.00.000Z' },
    };
    const metadata = { name: GONE, labels };
    const template = {
      metadata: { labels },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'x' }] },
    };
    const draft = { metadata, spec: { suspend: true, template } };
    site.fake.cluster.admission.create(
      'jobs',
      NAMESPACE,
      draft as Parameters<typeof site.fake.store.create<'jobs'>>[2],
    );
    await register([{ id: 'case', task: 'true' }]);
    await eventually('it is gone', async () => site.fake.ledger.left(OURS, 'everdict').length === 0);
  },
  MINUTE,
);

test(
  'E49 a case without network has a policy of its own before it may start, and none after it',
  async () => {
    const order: string[] = [];
    const unlisten = site.fake.store.onChange(({ kind, type, object }) => {
      if (kind === 'networkpolicies' || kind === 'pods') order.push(`${type} ${kind}`);
      if (kind === 'networkpolicies' && type === 'ADDED') expect(object.metadata.ownerReferences).toHaveLength(1);
    });
    const request = await register([{ id: 'case', task: 'true', network: { mode: 'none' } }]);
    const id = await platform.submit(request);
    expect((await platform.completed(id)).counts).toMatchObject({ passed: 1 });
    unlisten();
    expect([order[0], order.filter((each) => each === 'ADDED pods').length]).toEqual(['ADDED networkpolicies', 1]);
    await expectNothingLeft(id, request);
    const { runtime: unlisted } = await register([{ id: 'case', task: 'true' }], {
      server: UNLISTED,
      authSecret: 'elsewhere',
    });
    const refused = await platform.call<{ code: string; detail: string }>('POST', '/scorecards', {
      ...request,
      runtime: unlisted,
    });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'BAD_SPEC', detail: expect.stringContaining('network.mode') },
    });
  },
  MINUTE,
);

test.each([
  [
    'a namespace that is not there',
    { namespace: 'nope' },
    'errored config BAD_SPEC',
    /`namespace`: the account .* in nope/,
  ],
  [
    'an account without rights',
    { authSecret: 'looks' },
    'errored config BAD_SPEC',
    /`namespace`: the account .* may not get jobs.batch in evals/,
  ],
  ['a token that has expired', { authSecret: 'expired' }, 'errored infra CLUSTER_AUTH', /secret expired/],
])(
  '%s is named by the probe, and ends the first case with its field or secret',
  async (_title, parts, end, reason) => {
    const probed = await platform.call<Parts>('POST', '/runtimes/probe', {
      ...spec(parts),
      id: 'probed',
      version: '1',
    });
    expect(probed.body).toMatchObject({ reachable: false });
    const request = await register([{ id: 'case', task: 'true' }], parts);
    const id = await platform.submit({ ...request, infraRetries: 0 });
    expect((await platform.completed(id)).counts).toMatchObject({ errored: 1 });
    const [run] = await platform.runs(id);
    expect(endsOf([run as RunView])).toEqual([end]);
    expect(run?.reason).toMatch(reason);
    expect(site.fake.ledger.left(OURS, 'everdict')).toEqual([]);
  },
  MINUTE,
);
