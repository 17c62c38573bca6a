import type { Job } from '../backends/backend.js';
import { K8sLink } from '../backends/k8s/k8s.link.js';
import { listJobs } from '../backends/k8s/k8s.list.js';
import { JOB_RIGHTS, NETWORK_RIGHTS, type Right } from '../backends/k8s/k8s.rights.js';
import { stopJob } from '../backends/k8s/k8s.stop.js';
import { type Submit, submitJob } from '../backends/k8s/k8s.submit.js';
import { makeCertificates } from '../dev/fake-k8s/certificates.js';
import type { FakeK8sOptions } from '../dev/fake-k8s/fake-k8s.js';
import { allocationName } from '../policy/naming.js';
import { aK8sRuntime, PATIENCE } from './builders.js';
import { NAMESPACE, openFakeK8s } from './fake-k8s-lab.js';
import { egress } from './nomad-jobs.js';

export const RUN_ID = 'run_00000000000000000000000001';
export const JOB_NAME = allocationName('dep', RUN_ID, 1);
const TOKEN = 'dispatcher-token';

const rightOf = ({ verb, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource ? `/${subresource}` : ''}`;
/** What the documented Role gives, and no more. */
const DISPATCHER = {
  user: `system:serviceaccount:${NAMESPACE}:everdict`,
  rights: [...JOB_RIGHTS, ...NETWORK_RIGHTS].map(rightOf),
  namespaces: [NAMESPACE],
};

export const aJob = (parts: Partial<Job> = {}): Job => ({
  payload: new Map([['wrapper.sh', Buffer.from('echo hi\n')]]),
  resources: {},
  lifeMs: 60_000,
  owner: {
    ...{ deployment: 'dep', workspaceId: 'acme', runId: RUN_ID, caseId: 'c1', attempt: 1 },
    expiresAt: 2_000_000_000_000,
  },
  ...parts,
});

/** A job that owns all that a job can own. */
export const aWholeJob = (): Job => aJob({ network: 'none', registry: { username: 'u', password: 'p' } });

/** The verbs of a worker, as an account with the documented Role, on a fake Kubernetes without nodes. */
export async function openVerbs(options: Partial<FakeK8sOptions> = {}) {
  const certificates = makeCertificates();
  const accounts: FakeK8sOptions['accounts'] = { [TOKEN]: DISPATCHER };
  const { fake, close } = await openFakeK8s({ certificates, accounts, nodes: [], ...options });
  const server = new URL(fake.url);
  const linkTo = (namespace: string, ca = certificates.ca): K8sLink =>
    new K8sLink(async () => ({ server, namespace, authorization: `Bearer ${TOKEN}`, ...(ca && { ca }) }), egress);
  const link = linkTo(NAMESPACE);
  const { signal } = new AbortController();
  const connected = await link.connect(signal);

  function submit(parts: Partial<Submit> = {}, spec: Record<string, unknown> = {}) {
    const runtime = aK8sRuntime(spec);
    if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
    return submitJob({
      ...{ ...connected, spec: runtime, patience: PATIENCE, job: aWholeJob() },
      ...{ allocation: { name: JOB_NAME, nonce: 'c0ffee' }, isLive: async () => true, signal, ...parts },
    });
  }

  /** At once, whatever else would have to let go of it. */
  function erase(kind: 'jobs' | 'pods' | 'secrets' | 'networkpolicies', name: string): void {
    const { store } = fake;
    store.update(kind, NAMESPACE, name, ({ metadata }) => {
      delete metadata.finalizers;
    });
    store.remove(kind, NAMESPACE, name);
  }

  return {
    fake,
    submit,
    erase,
    /** Nothing is there, and nothing was asked. */
    reset(): void {
      fake.reset();
      fake.ledger.creations.clear();
      for (const kind of ['jobs', 'pods', 'secrets', 'networkpolicies'] as const) {
        for (const { metadata } of fake.store.list(kind, NAMESPACE)) erase(kind, metadata.name);
      }
    },
    linkTo,
    stop: (name = JOB_NAME) => stopJob(connected, name),
    list: (from?: string) => listJobs(connected, 'dep', from),
    job: () => fake.store.get('jobs', NAMESPACE, JOB_NAME),
    /** What there is of ours, as paths. */
    left: () => fake.ledger.left('app', 'everdict'),
    /** Calls since then, as `create jobs`. */
    calls: (since = 0) => fake.calls.slice(since).map(({ verb, resource }) => `${verb} ${resource}`),
    async close() {
      await link.close();
      await close();
    },
  };
}
export type VerbsLab = Awaited<ReturnType<typeof openVerbs>>;
