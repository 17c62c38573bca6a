import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { type Certificates, makeCertificates } from '../dev/fake-k8s/certificates.js';
import { type ClusterOptions, FakeCluster } from '../dev/fake-k8s/fake-cluster.js';
import { FakeK8s, type FakeK8sOptions } from '../dev/fake-k8s/fake-k8s.js';
import type { Draft, Job, Pod, PodSpec } from '../dev/fake-k8s/fake-objects.js';
import type { FakeStore } from '../dev/fake-k8s/fake-store.js';

export const NAMESPACE = 'evals';
export const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;

interface Wish {
  /** Sent as JSON, or text as it is. */
  body?: unknown;
  type?: string;
  token?: string;
}

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  /** Of JSON. */
  body: unknown;
}

let made: Certificates | undefined;

export const aSpec = (spec: Partial<PodSpec> = {}): PodSpec => ({
  restartPolicy: 'Never',
  containers: [{ name: 'main', image: 'busybox:1' }],
  ...spec,
});

export const aJob = (name: string, spec: Partial<Job['spec']> = {}, metadata: object = {}): Draft<Job> => ({
  metadata: { name, ...metadata },
  spec: { backoffLimit: 0, template: { spec: aSpec() }, ...spec },
});

/** A fake Kubernetes with an account that may do everything, and a client of it. */
export async function openFakeK8s(options: Partial<FakeK8sOptions> = {}) {
  made ??= makeCertificates();
  const certificates = made;
  const fake = await FakeK8s.start({
    certificates,
    accounts: { admin: { user: 'admin', rights: ['*'] } },
    namespaces: [NAMESPACE],
    ...options,
  });
  const agent = new Agent({ ca: certificates.ca, keepAlive: true });

  function open(method: string, path: string, { body, type = 'application/json', token = 'admin' }: Wish = {}) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      const length = String(Buffer.byteLength(text));
      const headers = {
        'content-type': type,
        ...(token && { authorization: `Bearer ${token}` }),
        'content-length': length,
      };
      const sent = request(`${fake.url}${path}`, { method, headers, agent }, resolve);
      sent.on('error', reject);
      sent.end(text);
    });
  }

  async function call(method: string, path: string, wish: Wish = {}): Promise<Reply> {
    const response = await open(method, path, wish);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    const isJson = response.headers['content-type']?.includes('json') && text !== '';
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  }

  /** Each line as it comes, until the stream ends or whoever takes them stops. */
  async function* watch(path: string): AsyncGenerator<unknown> {
    const response = await open('GET', path);
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line);
    }
  }

  return {
    fake,
    call,
    watch,
    async close() {
      agent.destroy();
      await fake.close();
    },
  };
}

/** What is looked for, as soon as a change makes it so. */
export function until<Found>(store: FakeStore, look: () => Found | undefined | false): Promise<Found> {
  const now = look();
  if (now) return Promise.resolve(now);
  return new Promise((resolve) => {
    const unlisten = store.onChange(() => {
      const found = look();
      if (!found) return;
      unlisten();
      resolve(found);
    });
  });
}

/** A cluster without an API, whose pods nobody runs: a test says what becomes of them. */
export function openCluster(options: ClusterOptions = {}) {
  const cluster = new FakeCluster({ namespaces: [NAMESPACE], ...options });
  const { store, admission } = cluster;
  const podsOf = (job: string): Pod[] =>
    store.list('pods', NAMESPACE).filter(({ metadata }) => metadata.labels?.['job-name'] === job);
  return {
    cluster,
    store,
    podsOf,
    create(name: string, spec: Partial<Job['spec']> = {}, metadata: object = {}): Job {
      const created = admission.create('jobs', NAMESPACE, aJob(name, spec, metadata));
      if (!('metadata' in created)) throw new Error(JSON.stringify(created.body));
      return created;
    },
    job: (name: string) => store.get('jobs', NAMESPACE, name),
    /** The pod of a Job, once it has a node. */
    placed: (job: string) => until(store, () => podsOf(job).find(({ spec }) => spec.nodeName)),
    phase(pod: Pod, phase: string): void {
      store.update('pods', NAMESPACE, pod.metadata.name, ({ status }) => {
        status.phase = phase;
      });
    },
    /** Once the Job has a condition. */
    condition: (job: string, type: string, is = 'True') =>
      until(store, () =>
        store.get('jobs', NAMESPACE, job)?.status.conditions?.find((each) => each.type === type && each.status === is),
      ),
    /** Reasons and texts of what was told of objects of a name that begins so. */
    told: (name: string): string[] =>
      store
        .list('events', NAMESPACE)
        .filter(({ involvedObject }) => involvedObject.name.startsWith(name))
        .map(({ type, reason, message }) => `${type} ${reason} ${message}`),
  };
}
