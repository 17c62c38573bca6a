import { forbidden } from '../../dev/fake-k8s/status.js';
import { allocationName } from '../../policy/naming.js';
import { aJob as aFakeJob, NAMESPACE, until } from '../../test/fake-k8s-lab.js';
import { aJob, JOB_NAME, openVerbs, RUN_ID, type VerbsLab } from '../../test/k8s-verbs.js';

let lab: VerbsLab;
beforeAll(async () => {
  lab = await openVerbs();
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

const JOB = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs/${JOB_NAME}`;
const POLICY = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies/${JOB_NAME}`;
const placed = () => until(lab.fake.store, () => lab.fake.store.list('pods', NAMESPACE)[0]);

/** As `kubectl delete --cascade=orphan` leaves it. */
async function part(): Promise<void> {
  const { metadata } = await placed();
  lab.fake.store.update('pods', NAMESPACE, metadata.name, (pod) => {
    delete pod.metadata.ownerReferences;
    delete pod.metadata.finalizers;
  });
  lab.erase('jobs', JOB_NAME);
}

test('K27 a Job is deleted with its pods, and it is read back that nothing is left', async () => {
  await lab.submit();
  await placed();
  const since = lab.fake.requests.length;
  await lab.stop();
  expect(lab.left()).toEqual([]);
  const [first] = lab.fake.requests.slice(since).filter(({ method }) => method === 'DELETE');
  expect([first?.path, JSON.parse(first?.body ?? '')]).toMatchObject([
    JOB,
    { propagationPolicy: 'Background', preconditions: { uid: expect.stringMatching(/^[0-9a-f-]{36}$/) } },
  ]);
  expect(lab.calls().at(-1)).toBe('list pods');
});

test('what never was there, and what is gone already, is stopped', async () => {
  await lab.stop();
  await lab.submit();
  await Promise.all([lab.stop(), lab.stop()]);
  await lab.stop();
  expect(lab.left()).toEqual([]);
});

test('K27 a pod that was parted from its Job is deleted by itself', async () => {
  await lab.submit();
  await part();
  await lab.stop();
  expect(lab.left()).toEqual([]);
  expect(lab.calls()).toContain('delete pods');
});

test('an answer that is lost is asked for again, whichever', async () => {
  for (let after = 0; after < 6; after += 1) {
    await lab.submit();
    lab.fake.reset();
    lab.fake.fault({ path: /./, fault: 'dropped', after, times: 1 });
    await lab.stop();
    expect(lab.left()).toEqual([]);
    lab.fake.reset();
  }
});

const NAMED = { app: 'everdict', 'everdict.dev/workspace': 'acme', 'everdict.dev/allocation': JOB_NAME };
const OF_RUN = { 'everdict.dev/run': RUN_ID, 'everdict.dev/attempt': '1' };
test.each<[string, Record<string, string>]>([
  ['another application', { app: 'web' }],
  ['nobody: it has but the name', { ...NAMED, 'everdict.dev/deployment': 'dep' }],
  ['another deployment', { ...NAMED, ...OF_RUN, 'everdict.dev/deployment': 'other' }],
  ['another attempt', { ...NAMED, ...OF_RUN, 'everdict.dev/deployment': 'dep', 'everdict.dev/attempt': '2' }],
])('K17 a Job of that name that says it is of %s is left alone, and its pod', async (_, own) => {
  const { spec } = aFakeJob(JOB_NAME);
  const template = { ...spec.template, metadata: { labels: own } };
  const metadata = { name: JOB_NAME, labels: own };
  lab.fake.store.create('jobs', NAMESPACE, { metadata, spec: { ...spec, template }, status: {} });
  await placed();
  expect(await lab.submit()).toBe('taken');
  await lab.stop();
  expect(lab.job()).toBeDefined();
  expect(lab.fake.store.list('pods', NAMESPACE)).toHaveLength(1);
  expect(lab.calls().filter((call) => call.startsWith('delete'))).toEqual([]);
});

test('a pod that has but the name of one of ours is left alone', async () => {
  await lab.submit();
  const { spec } = await placed();
  const labels = { ...NAMED, 'everdict.dev/deployment': 'other', 'everdict.dev/workspace': 'acme' };
  lab.fake.store.create('pods', NAMESPACE, {
    metadata: { name: 'foreign', labels },
    spec,
    status: { phase: 'Pending' },
  });
  await lab.stop();
  expect(lab.job()).toBeUndefined();
  expect(lab.fake.store.list('pods', NAMESPACE).map(({ metadata }) => metadata.name)).toEqual(['foreign']);
});

test('who has no right to close networks needs none to stop; one that is missing is named', async () => {
  await lab.submit({ job: aJob() });
  const user = { user: 'u' };
  const asked = { verb: 'delete', group: 'networking.k8s.io', resource: 'networkpolicies', namespace: NAMESPACE };
  lab.fake.script(`DELETE ${POLICY}`, forbidden(user.user, asked));
  await lab.stop();
  expect(lab.left()).toEqual([]);
  await lab.submit({ job: aJob() });
  lab.fake.script(`DELETE ${JOB}`, forbidden(user.user, { ...asked, group: 'batch', resource: 'jobs' }));
  await expect(lab.stop()).rejects.toMatchObject({
    reason: 'auth',
    message: 'the account may not delete jobs.batch (403)',
  });
});

describe('what a sweep sees', () => {
  const runId = 'run_00000000000000000000000002';
  const OTHER = allocationName('dep', runId, 1);
  const expected = (name: string) => ({
    ...{ name, workspaceId: 'acme', expiresAt: 2_000_000_000_000, madeAt: expect.any(Number) },
  });

  test('are the Jobs of a deployment, by their labels alone, and then pods without one', async () => {
    const other = aJob({ owner: { ...aJob().owner, runId } });
    await lab.submit({ job: other, allocation: { name: OTHER, nonce: 'n' } });
    await lab.submit();
    const { spec } = aFakeJob('else', { suspend: true });
    lab.fake.store.create('jobs', NAMESPACE, { metadata: { name: 'else', labels: { app: 'web' } }, spec, status: {} });
    const first = await lab.list();
    expect(first).toEqual({ allocations: [expected(JOB_NAME), expected(OTHER)], next: 'pods:' });
    expect(first.allocations.every(({ madeAt }) => Math.abs(madeAt - Date.now()) < 60_000)).toBe(true);
    expect(await lab.list('pods:')).toEqual({ allocations: [] });
    lab.erase('jobs', OTHER);
    await until(lab.fake.store, () => lab.fake.store.list('pods', NAMESPACE).length === 1);
    await part();
    expect(await lab.list()).toEqual({ allocations: [], next: 'pods:' });
    expect(await lab.list('pods:')).toEqual({ allocations: [expected(JOB_NAME)] });
  });

  test('are not what has but the name of an allocation', async () => {
    const { spec } = aFakeJob('else', { suspend: true });
    const owner = { 'everdict.dev/deployment': 'dep', 'everdict.dev/workspace': 'acme' };
    const labels = { ...NAMED, ...owner };
    lab.fake.store.create('jobs', NAMESPACE, { metadata: { name: JOB_NAME, labels }, spec, status: {} });
    expect(await lab.list()).toEqual({ allocations: [], next: 'pods:' });
  });
});
