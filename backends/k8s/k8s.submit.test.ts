import { eventually } from '../../test/eventually.js';
import { NAMESPACE, until } from '../../test/fake-k8s-lab.js';
import { aJob, JOB_NAME, openVerbs, type VerbsLab } from '../../test/k8s-verbs.js';
import type { Submitted } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';

let lab: VerbsLab;
beforeAll(async () => {
  lab = await openVerbs();
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

const CONFIRMED = { name: JOB_NAME, nonce: 'c0ffee', submittedAt: 1 };
const WHOLE = ['create jobs', 'create secrets', 'create secrets', 'create networkpolicies', 'patch jobs'];
const OURS = [
  `jobs/${JOB_NAME}`,
  expect.stringMatching(`^pods/${JOB_NAME}-`),
  `secrets/${JOB_NAME}`,
  `secrets/${JOB_NAME}-ip`,
  `networkpolicies/${JOB_NAME}`,
];

test('a Job is made suspended, owns what it needs before it may start, and is asked for no more than that', async () => {
  let suspended: boolean | undefined;
  const isLive = async () => {
    suspended = lab.job()?.spec.suspend;
    return true;
  };
  expect(await lab.submit({ isLive })).toBe('created');
  expect(suspended).toBe(true);
  expect(lab.calls()).toEqual(['get jobs', ...WHOLE]);
  const { metadata, spec } = lab.job() ?? {};
  expect(spec?.suspend).toBe(false);
  const owned = (['secrets', 'networkpolicies'] as const).flatMap((kind) => lab.fake.store.list(kind, NAMESPACE));
  for (const { metadata: own } of owned) expect(own.ownerReferences).toMatchObject([{ uid: metadata?.uid }]);
  await until(lab.fake.store, () => lab.left().length === 5);
  expect(lab.left()).toEqual(OURS);
});

describe('a Job of that name', () => {
  test.each<[string, () => Promise<unknown>, object, Submitted, string[]]>([
    ['is ours, and runs', () => lab.submit(), {}, 'adopted', []],
    ['is ours, and was confirmed', () => lab.submit(), { allocation: CONFIRMED }, 'adopted', []],
    ['is absent although it was confirmed', async () => undefined, { allocation: CONFIRMED }, 'lost', []],
    [
      'K17 is of another run',
      () => lab.submit({ job: aJob({ owner: { ...aJob().owner, runId: 'x' } }) }),
      {},
      'taken',
      [],
    ],
  ])('%s', async (_title, before, parts, submitted, calls) => {
    await before();
    const since = lab.fake.calls.length;
    expect(await lab.submit(parts)).toBe(submitted);
    expect(lab.calls(since)).toEqual(['get jobs', ...calls]);
  });

  test('K17 is being deleted: it is waited for, and then made', async () => {
    await lab.submit();
    const { store } = lab.fake;
    store.remove('jobs', NAMESPACE, JOB_NAME, { finalizer: 'example.com/slow' });
    const first = lab.job()?.metadata.uid;
    const submitting = lab.submit();
    await eventually('it is looked at again', async () => lab.calls().filter((call) => call === 'get jobs').length > 3);
    lab.erase('jobs', JOB_NAME);
    expect(await submitting).toBe('created');
    expect(lab.job()?.metadata.uid).not.toBe(first);
  });

  test('was suspended by somebody else since it was confirmed: it is theirs to resume', async () => {
    await lab.submit();
    lab.fake.store.update('jobs', NAMESPACE, JOB_NAME, ({ spec }) => {
      spec.suspend = true;
    });
    expect(await lab.submit({ allocation: CONFIRMED })).toBe('adopted');
    expect(lab.job()?.spec.suspend).toBe(true);
  });
});

describe.each(['done, and its answer lost', 'not done'])('where a call is the last that is %s', (how) => {
  test.each(['get jobs', ...WHOLE].map((call, i): [number, string] => [i + 1, call]))(
    'K17 call %s, %s: nothing is nobody’s, a removal leaves nothing, and the next try goes on',
    async (nth) => {
      for (const next of ['stop', 'submit'] as const) {
        const isDone = how !== 'not done';
        const since = lab.fake.requests.length;
        const [path, died] = [/./, new AbortController()];
        if (isDone) lab.fake.fault({ path, fault: 'dropped', after: nth - 1, times: 1 });
        lab.fake.fault({ path, fault: 'reset', after: nth - 1 });
        const submitting = lab.submit({ signal: died.signal }).catch((error: unknown) => error);
        await eventually('the call is made', async () => lab.fake.requests.length - since >= nth);
        died.abort();
        expect(await submitting).toBeInstanceOf(ClusterFailure);
        lab.fake.reset();
        const uid = lab.job()?.metadata.uid;
        const parted = (['secrets', 'networkpolicies'] as const)
          .flatMap((kind) => lab.fake.store.list(kind, NAMESPACE))
          .filter(({ metadata }) => uid === undefined || metadata.ownerReferences?.[0]?.uid !== uid);
        expect(parted).toEqual([]);
        if (next === 'submit') {
          expect(await lab.submit()).toBe(uid === undefined ? 'created' : 'adopted');
          await until(lab.fake.store, () => lab.left().length === 5);
          expect(lab.left()).toEqual(OURS);
          expect(lab.job()?.metadata.uid).toBe(uid ?? lab.job()?.metadata.uid);
        }
        await lab.stop();
        await until(lab.fake.store, () => lab.left().length === 0);
      }
    },
  );
});

test.each(WHOLE.map((call, i): [string, number] => [call, i + 1]))(
  'K17 the answer of a call is lost, %s: what became of it is read, and nothing is made twice',
  async (_call, after) => {
    lab.fake.fault({ path: /./, fault: 'dropped', after, times: 1 });
    expect(['created', 'adopted']).toContain(await lab.submit());
    await until(lab.fake.store, () => lab.left().length === 5);
    expect(lab.left()).toEqual(OURS);
    expect(lab.fake.ledger.creations.get(`jobs/${JOB_NAME}`)).toBe(1);
  },
);

test('an attempt that ended meanwhile starts nothing, and leaves nothing', async () => {
  expect(await lab.submit({ isLive: async () => false })).toBe('over');
  await until(lab.fake.store, () => lab.left().length === 0);
  expect(lab.fake.ledger.starts.get(JOB_NAME)).toBeUndefined();
});

test('a Job that is removed before it is started is made again, unless its attempt has ended', async () => {
  let asked = 0;
  const isLive = async () => {
    asked += 1;
    if (asked === 1) lab.erase('jobs', JOB_NAME);
    return true;
  };
  expect(await lab.submit({ isLive })).toBe('created');
  expect(lab.job()?.spec.suspend).toBe(false);
  lab.erase('jobs', JOB_NAME);
  const ended = async () => {
    if (lab.job()) lab.erase('jobs', JOB_NAME);
    asked += 1;
    return asked < 4;
  };
  expect(await lab.submit({ isLive: ended })).toBe('over');
  expect(lab.job()).toBeUndefined();
});

test('K25 a job for a cluster whose certificate is of no known authority is refused, with the field', async () => {
  const { signal } = new AbortController();
  const strange = await lab.linkTo(NAMESPACE, '').connect(signal);
  await expect(lab.submit(strange)).rejects.toMatchObject({ reason: 'refused', message: /`caCert`/ });
  expect(lab.fake.requests).toEqual([]);
});
