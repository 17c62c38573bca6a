import { ACCOUNT, K8sCases, LINGERING, NAMESPACE, recording, TOKEN } from '../../test/k8s-case.js';
import type { AllocationEvent, AllocationRef } from '../backend.js';
import { ClusterFailure } from '../cluster-client.js';

let k8s: K8sCases;
beforeEach(async () => {
  k8s = await K8sCases.start();
});
afterEach(() => k8s.close());

const hasEnded = ({ status }: { status: { phase?: string } }): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';
/** The first time that something of the kind is said. */
function once(kind: AllocationEvent['kind'], work: (ref: AllocationRef) => void) {
  let isDone = false;
  return (event: AllocationEvent, ref: AllocationRef): void => {
    if (isDone || event.kind !== kind) return;
    isDone = true;
    work(ref);
  };
}
const SOON = { startMs: 60_000, pullErrorMs: 300 };

describe('K01 E45 E03 an image that cannot be pulled', () => {
  test.each([
    ['not-found', 'config IMAGE_UNAVAILABLE', false, /not found/],
    ['unauthorized', 'config IMAGE_UNAVAILABLE', false, /401 Unauthorized/],
    ['time-out', 'infra IMAGE_PULL_FAILED', true, /timeout|time-out|timed out/],
    ['unknown-host', 'infra IMAGE_PULL_FAILED', true, /no such host/],
  ] as const)('%s: waits for the patience with that, and no longer', async (rule, outcome, isRetried, why) => {
    k8s.site.kubelets.images.rules.set('reg.test/nope:1', rule);
    const found = await k8s.run('echo hi', { patience: SOON, job: { image: 'reg.test/nope:1' } });
    expect(found).toMatchObject({ outcome, isRetried });
    expect(found.reason).toContain('reg.test/nope:1');
    expect(found.reason).toMatch(why);
    expect(found.tookMs).toBeGreaterThan(300);
    expect(found.tookMs).toBeLessThan(3_000);
  });

  test('a name that is none ends it at once', async () => {
    const found = await k8s.run('echo hi', { job: { image: 'UPPER/x:1' } });
    expect(found).toMatchObject({ outcome: 'config IMAGE_UNAVAILABLE', isRetried: false });
    expect(found.tookMs).toBeLessThan(2_000);
  });
});

test('K07 a pod that is gone before its log was read is a lost result, with its exit code', async () => {
  k8s.fake.fault({ path: /\/log$/, fault: { status: 500, body: 'boom' } });
  const found = await k8s.run('echo hi; exit 3', {
    before: (ref) => k8s.until(ref, hasEnded),
    during: once('placed', ({ name }) => {
      k8s.fake.reset();
      k8s.site.nodes.deletePod(name, 0);
    }),
  });
  expect(found).toMatchObject({ outcome: 'infra RESULT_LOST', isRetried: true });
  expect(found.reason).toContain('exit code 3');
});

describe('K09 a job of which Kubernetes makes another pod', () => {
  const twin = ({ name }: { name: string }) => {
    const [first] = k8s.podsOf(name);
    if (!first) throw new Error('it has no pod');
    const { metadata, spec } = first;
    const { labels, annotations, ownerReferences } = metadata;
    const draft = { metadata: { name: `${name}-twin`, labels, annotations, ownerReferences }, spec: { ...spec } };
    k8s.fake.store.create('pods', NAMESPACE, { ...draft, status: { phase: 'Pending' } } as typeof first);
  };

  test('has the verdict of the first; the other one is removed, and said of it', async () => {
    const found = await k8s.run(`echo first; sleep 1\n${recording('x')}`, { during: once('log', twin) });
    expect(found).toMatchObject({ outcome: 'passed', output: expect.stringMatching(/^first\nx\n/) });
    expect(found.provenance.anomalies).toEqual([expect.stringMatching(/^re-executed: .*-twin/)]);
    const deleted = k8s.fake.calls.filter(({ verb, resource }) => verb === 'delete' && resource === 'pods');
    expect(deleted).toMatchObject([{ name: `${found.ref.name}-twin`, isAllowed: true }]);
  });
});

describe('K11 memory', () => {
  test('a child that was killed leaves the record in hand, with a note', async () => {
    const found = await k8s.run(recording().replace(LINGERING, 'sleep 0.1'), {
      before: async (ref) => {
        await k8s.until(ref, ({ status }) => status.phase === 'Running');
        k8s.site.nodes.outOfMemory(ref.name, { isChild: true });
        await k8s.until(ref, hasEnded);
      },
    });
    expect(found).toMatchObject({ outcome: 'passed', provenance: { anomalies: [expect.stringMatching(/^oom: /)] } });
  });

  test('without a record it is the job that ran out of it', async () => {
    const found = await k8s.run(`echo hi\n${LINGERING}`, {
      during: once('log', ({ name }) => k8s.site.nodes.outOfMemory(name)),
    });
    expect(found).toMatchObject({ outcome: 'config OOM_KILLED', isRetried: false });
  });

  test('a kill without a word of memory is its own end', async () => {
    const found = await k8s.run('echo hi; kill -9 $$');
    expect(found).toMatchObject({ outcome: 'agent ABORTED', isRetried: false });
    expect(found.reason).toMatch(/exit code 137/);
  });

  test('a node that has none left is to blame for the eviction', async () => {
    const found = await k8s.run(`echo hi\n${LINGERING}`, {
      during: once('log', ({ name }) => k8s.site.nodes.evictForMemory(name)),
    });
    expect(found).toMatchObject({ outcome: 'infra EVICTED', isRetried: true });
    expect(found.reason).toMatch(/low on resource: memory/);
  });
});

test('K13 a container that was put beside it and never ends is not waited for', async () => {
  k8s.fake.cluster.admission.changePod = (pod) => {
    const [main] = pod.spec.containers;
    const proxy = { ...main, name: 'istio-proxy', command: ['/bin/sh', '-c', LINGERING], args: [], volumeMounts: [] };
    return { ...pod, spec: { ...pod.spec, containers: [proxy, ...pod.spec.containers] } };
  };
  const found = await k8s.run('echo mine; exit 4');
  expect(found).toMatchObject({ outcome: 'agent ABORTED', output: 'mine\n' });
  expect(found.reason).toContain('exit code 4');
  expect(await k8s.run(recording('mine'))).toMatchObject({ outcome: 'passed' });
});

test.each([
  ['its Job is deleted', 'infra EVICTED', /its Job was deleted/],
  ['its pod is deleted', 'infra EVICTED', /somebody deleted its pod/],
  ['it is evicted', 'infra EVICTED', /evicted by others/],
] as const)('where %s by others, that is said', async (what, outcome, reason) => {
  const found = await k8s.run(`echo hi\n${LINGERING}`, {
    during: once('log', ({ name }) => {
      if (what === 'its pod is deleted') k8s.site.nodes.deletePod(name);
      else if (what === 'it is evicted') k8s.site.nodes.evict(name);
      else k8s.fake.store.remove('jobs', NAMESPACE, name);
    }),
  });
  expect(found).toMatchObject({ outcome, isRetried: true, reason: expect.stringMatching(reason) });
});

describe('K17 a create whose answer is lost', () => {
  test('is read back, and made once', async () => {
    k8s.fake.fault({ method: 'POST', path: /\/jobs$/, fault: 'dropped', times: 1 });
    const backend = k8s.backend();
    const submit = backend.submit.bind(backend);
    backend.submit = async (...args) => {
      const outcome = await submit(...args);
      expect(outcome).toBe('adopted');
      return 'created';
    };
    const found = await k8s.run(recording(), {}, backend);
    expect(found.outcome).toBe('passed');
    expect(k8s.fake.ledger.creations.get(`jobs/${found.ref.name}`)).toBe(1);
    expect(k8s.fake.ledger.starts.get(found.ref.name)).toBe(1);
  });
});

test('a Secret that another worker is just making anew is waited for', async () => {
  const { store } = k8s.fake;
  const KEY = 'env.EVERDICT_NONCE';
  let [name, nonce] = ['', ''];
  const unlisten = store.onChange(({ kind, object: { metadata } }) => {
    if (kind !== 'secrets') return;
    unlisten();
    name = metadata.name;
    store.update('secrets', NAMESPACE, name, ({ data = {} }) => {
      nonce = data[KEY] ?? '';
      delete data[KEY];
    });
  });
  const found = await k8s.run(recording(), {
    during: once('waiting', () =>
      store.update('secrets', NAMESPACE, name, ({ data = {} }) => {
        data[KEY] = nonce;
      }),
    ),
  });
  expect(found.outcome).toBe('passed');
  expect(found.waiting[0]).toMatch(/couldn't find key env.EVERDICT_NONCE/);
});

describe('K19 a quota', () => {
  const quota = (hard: Record<string, string>) =>
    k8s.fake.store.create('resourcequotas', NAMESPACE, {
      metadata: { name: 'small' },
      spec: { hard },
      status: { hard, used: {} },
    });

  test('that is used up is waited for, and named when patience ends', async () => {
    quota({ pods: '0' });
    const found = await k8s.run('echo hi', { spec: { placementPatienceSec: 2 } });
    expect(found).toMatchObject({ outcome: 'infra PLACEMENT_TIMEOUT', isRetried: true });
    expect(found.reason).toMatch(/the quota small is used up/);
    expect(found.waiting.at(-1)).toMatch(/the quota small is used up/);
    expect(k8s.fake.ledger.starts.get(found.ref.name)).toBeUndefined();
  });

  test('that takes no job without an amount ends it at once', async () => {
    quota({ 'limits.memory': '1Gi' });
    const found = await k8s.run('echo hi');
    expect(found).toMatchObject({ outcome: 'config BAD_SPEC', isRetried: false });
    expect(found.reason).toMatch(/`resources.memoryMb`/);
    expect(found.tookMs).toBeLessThan(5_000);
  });
});

test('K23 a token that expires while a job runs is no end of it: with a new one it is followed on', async () => {
  const accounts: Record<string, typeof ACCOUNT> = { [TOKEN]: ACCOUNT };
  const own = await K8sCases.start({ accounts });
  try {
    let tries = 0;
    const script = `echo one; sleep 1; echo two\n${recording('three')}`;
    const found = await own.run(
      script,
      {},
      twoTokens(own, accounts, () => {
        tries += 1;
      }),
    );
    expect(found).toMatchObject({ outcome: 'passed' });
    expect(found.output).toMatch(/^one\ntwo\nthree\n/);
    expect(tries).toBe(1);
    expect(own.fake.ledger.starts.get(found.ref.name)).toBe(1);
  } finally {
    await own.close();
  }
});

/** As the platform goes on: the credential is looked up anew where it is refused. */
function twoTokens(own: K8sCases, accounts: Record<string, typeof ACCOUNT>, tried: () => void) {
  const first = own.backend();
  const second = own.backend({}, 'second-token');
  return Object.assign(Object.create(first) as typeof first, {
    async *watch(...[ref, watch]: Parameters<typeof first.watch>) {
      let at = 0;
      try {
        for await (const event of first.watch(ref, watch)) {
          if (event.kind === 'log') {
            at = event.at + event.bytes.length;
            delete accounts[TOKEN];
            accounts['second-token'] = ACCOUNT;
            own.fake.cut();
          }
          yield event;
        }
      } catch (error) {
        if (!(error instanceof ClusterFailure) || error.reason !== 'auth') throw error;
        tried();
        yield* second.watch(ref, { ...watch, from: { stdout: at, stderr: 0 } });
      }
    },
    stop: second.stop.bind(second),
    submit: first.submit.bind(first),
    provenance: second.provenance.bind(second),
  });
}

test('K27 a removal takes the pods with the job, and says so in its body', async () => {
  const found = await k8s.run(recording());
  const deletion = k8s.fake.requests.find(({ method, path }) => method === 'DELETE' && path.endsWith(found.ref.name));
  expect(JSON.parse(deletion?.body ?? '')).toMatchObject({
    propagationPolicy: 'Background',
    preconditions: { uid: expect.any(String) },
  });
});

test('K29 a pod that goes while its long log is read keeps what was read, and is a lost result', async () => {
  k8s.site.kubelets.troubles.push({ pace: { bytesPerSec: 600_000 } });
  let read = 0;
  const found = await k8s.run(`head -c 900000 /dev/zero | tr '\\0' 'x' | fold -w 100; echo; exit 0`, {
    during: (event, { name }) => {
      if (event.kind !== 'log') return;
      const before = read;
      read += event.bytes.length;
      if (before < 300_000 && read >= 300_000) k8s.site.nodes.deletePod(name, 0);
    },
  });
  expect(found.outcome).toBe('infra RESULT_LOST');
  expect(read).toBeGreaterThanOrEqual(300_000);
});

test('K31 a job that no node takes is ended when patience is, and never runs', async () => {
  const found = await k8s.run('echo hi', { spec: { placementPatienceSec: 2, nodeSelector: { gpu: 'yes' } } });
  expect(found).toMatchObject({ outcome: 'infra PLACEMENT_TIMEOUT', isRetried: true });
  expect(found.reason).toMatch(/0\/1 nodes are available: 1 node\(s\) didn't match/);
  k8s.fake.store.update('nodes', '', 'node-1', ({ metadata }) => {
    metadata.labels = { ...metadata.labels, gpu: 'yes' };
  });
  expect(k8s.fake.ledger.starts.get(found.ref.name)).toBeUndefined();
});

test('K31 a job that is deleted without its pod, which no node takes, is ended as soon', async () => {
  const found = await k8s.run('echo hi', {
    spec: { placementPatienceSec: 2, nodeSelector: { gpu: 'yes' } },
    before: async (ref) => {
      const { metadata } = await k8s.until(ref, () => true);
      k8s.fake.store.update('pods', NAMESPACE, metadata.name, (pod) => {
        pod.metadata.ownerReferences = [];
      });
      k8s.fake.store.remove('jobs', NAMESPACE, ref.name);
    },
  });
  expect(found).toMatchObject({ outcome: 'infra PLACEMENT_TIMEOUT', isRetried: true });
});
