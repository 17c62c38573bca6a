import { setMaxListeners } from 'node:events';
import { PlatformError } from '../../contracts/errors.js';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { serverForm } from '../../policy/origins.js';
import type { AllocationEvent, AllocationPage, AllocationRef, Backend, Job, Submitted, Watch } from '../backend.js';
import type { Patience } from '../cluster.js';
import type { K8sLink } from './k8s.link.js';
import { listJobs } from './k8s.list.js';
import { attestedOf } from './k8s.objects.js';
import { K8sReflector } from './k8s.reflector.js';
import { stopJob } from './k8s.stop.js';
import { submitJob } from './k8s.submit.js';
import { watchJob } from './k8s.watch.js';

const NEVER = new AbortController().signal;
// Any number of calls wait for it at once.
setMaxListeners(0, NEVER);

/** Runs jobs on a Kubernetes cluster. Any worker process can go on with any job. */
export class K8sBackend implements Backend {
  readonly kind = 'k8s';
  /** One for all jobs that are watched here. */
  private readonly reflector: K8sReflector;
  /** Of what was submitted just now, by its name. */
  private readonly attested = new Map<string, Record<string, unknown>>();

  constructor(
    private readonly spec: K8sRuntimeSpec,
    private readonly link: K8sLink,
    private readonly deployment: string,
    private readonly patience: Patience,
  ) {
    this.reflector = new K8sReflector(link, deployment);
    link.ended.addEventListener('abort', () => this.reflector.close(), { once: true });
  }

  async submit(
    job: Job,
    allocation: AllocationRef,
    isLive = async () => true,
    signal: AbortSignal = NEVER,
  ): Promise<Submitted> {
    const { spec, patience } = this;
    const connected = await this.link.connect(signal);
    if (job.network === 'none') requireNamedServer(spec, connected.server);
    const submitted = await submitJob({ ...connected, spec, patience, job, allocation, isLive, signal });
    if (submitted === 'created' || submitted === 'adopted') this.attested.set(allocation.name, attestedOf(job, spec));
    return submitted;
  }

  async *watch(allocation: AllocationRef, watch: Watch): AsyncGenerator<AllocationEvent> {
    const { spec, deployment, patience, reflector } = this;
    const connected = await this.link.connect(watch.signal);
    yield* watchJob({ ...watch, ...connected, reflector, deployment, spec, patience, allocation });
  }

  async stop({ name }: AllocationRef): Promise<void> {
    await stopJob(await this.link.connect(NEVER), name);
  }

  async list(deployment: string, from?: string): Promise<AllocationPage> {
    return listJobs(await this.link.connect(NEVER), deployment, from);
  }

  /** What the job was given. Where it runs is told while it is watched. */
  async provenance({ name }: AllocationRef): Promise<Record<string, unknown>> {
    const attested = this.attested.get(name);
    this.attested.delete(name);
    const { namespace } = await this.link.connect(NEVER);
    return { namespace, ...attested };
  }
}

/** A cluster is known to enforce policies by its address: that of a kubeconfig has to be the one that was looked up. */
function requireNamedServer({ id, version, kubeconfigSecret, server }: K8sRuntimeSpec, actual: URL): void {
  if (kubeconfigSecret === undefined || serverForm(server ?? '') === serverForm(actual.href)) return;
  const message = `\`server\` of runtime ${id}@${version} is not where its kubeconfig leads, ${actual.origin}`;
  throw new PlatformError('BAD_SPEC', `\`network.mode\` none cannot be enforced: ${message}`);
}
