import type { AllocationEvent, AllocationRef, Backend, Job } from '../backends/backend.js';
import { type Cluster, createCluster, type Patience } from '../backends/cluster.js';
import { Egress } from '../backends/egress/guard.js';
import { JOB_RIGHTS, NETWORK_RIGHTS, type Right } from '../backends/k8s/k8s.rights.js';
import { type Certificates, makeCertificates } from '../dev/fake-k8s/certificates.js';
import type { Pod } from '../dev/fake-k8s/fake-objects.js';
import { FakeSite, type FakeSiteOptions } from '../dev/fake-k8s/fake-site.js';
import { parseAllowList } from '../policy/addresses.js';
import { aK8sRuntime, PATIENCE } from './builders.js';
import { aCaseJob, aCaseRef, type CaseTold, printedRecord, provenanceIn, toldBy } from './cases.js';

/** Stands in no request but as the credential, and in nothing that is told. */
export const TOKEN = 'canary-5ec3e7';
export const NAMESPACE = 'evals';
export const USER = 'system:serviceaccount:evals:everdict';
const MOST_MS = 30_000;
const egress = new Egress(parseAllowList('127.0.0.0/8').rules);

const rightOf = ({ verb, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource ? `/${subresource}` : ''}`;

/** All that the example role gives. */
export const ACCOUNT = {
  user: USER,
  rights: [...JOB_RIGHTS, ...NETWORK_RIGHTS].map(rightOf),
  namespaces: [NAMESPACE],
};

export interface CaseOptions {
  patience?: Partial<Patience>;
  spec?: Record<string, unknown>;
  job?: Partial<Job>;
  /** Once it was submitted, before it is watched. */
  before?(ref: AllocationRef): Promise<unknown>;
  /** At each event. */
  during?(event: AllocationEvent, ref: AllocationRef): void;
  limitMs?: number;
  /** Offset up to which its output is kept. */
  from?: number;
}

export interface CaseResult extends CaseTold {
  ref: AllocationRef;
  provenance: Record<string, unknown>;
  /** Of the watch, ms. */
  tookMs: number;
}

/** Goes on until it is told to end, which it does at once. */
export const LINGERING = 'trap "exit 0" TERM; sleep 60 & wait\n';

/** Prints this, then a record, and lingers. */
export const recording = (text = 'hello', status = 0): string =>
  `echo '${text}'\ncat <<'END'\n${printedRecord(status)}\nEND\n${LINGERING}`;

let made: Certificates | undefined;

/** A fake Kubernetes that runs pods, with an account of just the rights that cases need. */
export class K8sCases {
  private readonly clusters: Cluster[] = [];

  private constructor(
    readonly site: FakeSite,
    private readonly ca: string,
  ) {}

  static async start(options: Partial<FakeSiteOptions> = {}): Promise<K8sCases> {
    const parts = { accounts: { [TOKEN]: ACCOUNT }, namespaces: [NAMESPACE], ...options };
    made ??= makeCertificates();
    return new K8sCases(await FakeSite.start({ certificates: made, ...parts }), made.ca);
  }

  get fake() {
    return this.site.fake;
  }

  /** As a worker has it; it ends with the test. */
  backend({ patience = {}, spec = {} }: Pick<CaseOptions, 'patience' | 'spec'> = {}, token = TOKEN): Backend {
    const { url } = this.fake;
    const own = { server: url, authSecret: 'kube', caCert: this.ca, namespace: NAMESPACE };
    const runtime = aK8sRuntime({ ...own, image: 'r/x:1', ...spec });
    if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
    const bound = { name: 'kube', path: 'authSecret', token, origins: [url], version: 1 } as const;
    const cluster = createCluster(runtime, bound, {
      ...{ deployment: 'lab', egress, nomadConnections: 1, patience: { ...PATIENCE, ...patience } },
    });
    this.clusters.push(cluster);
    return cluster.backend;
  }

  podOf({ name }: AllocationRef): Pod | undefined {
    return this.podsOf(name)[0];
  }

  podsOf(name: string): Pod[] {
    const pods = this.fake.store.list('pods', NAMESPACE);
    return pods.filter(({ metadata }) => metadata.labels?.['everdict.dev/allocation'] === name);
  }

  /** Once a pod of it is so. */
  until(ref: AllocationRef, isSo: (pod: Pod) => boolean): Promise<Pod> {
    const now = this.podOf(ref);
    if (now && isSo(now)) return Promise.resolve(now);
    return new Promise((resolve) => {
      const unlisten = this.fake.store.onChange(({ kind, object }) => {
        const pod = object as Pod;
        if (kind !== 'pods' || pod.metadata.labels?.['everdict.dev/allocation'] !== ref.name || !isSo(pod)) return;
        unlisten();
        resolve(pod);
      });
    });
  }

  /** One attempt, from its submission until nothing of it is left; and what every case must hold. */
  async run(script: string, options: CaseOptions = {}, backend = this.backend(options)): Promise<CaseResult> {
    const { job, before, during, limitMs = 3_600_000, from = 0 } = options;
    const { ref, owner } = aCaseRef();
    const payload = new Map([['wrapper.sh', Buffer.from(script)]]);
    expect(await backend.submit(aCaseJob(owner, { payload, ...job }), ref)).toBe('created');
    await before?.(ref);
    const begun = performance.now();
    const events: AllocationEvent[] = [];
    const watch = { from: { stdout: from, stderr: 0 }, signal: AbortSignal.timeout(MOST_MS), limitMs };
    for await (const event of backend.watch(ref, watch)) {
      events.push(event);
      during?.(event, ref);
    }
    const tookMs = performance.now() - begun;
    const provenance = { ...(await backend.provenance(ref)), ...provenanceIn(events) };
    await backend.stop(ref);
    expect(this.fake.ledger.left('everdict.dev/allocation', ref.name)).toEqual([]);
    const told = { ...toldBy(events), ref, provenance, tookMs };
    expect(JSON.stringify(told)).not.toContain(TOKEN);
    return told;
  }

  async close(): Promise<void> {
    await Promise.all(this.clusters.map(({ client }) => client.close()));
    await this.site.close();
  }
}
