import type { NomadRuntimeSpec } from '../../contracts/runtime.js';
import type { AllocationEvent, AllocationPage, AllocationRef, Backend, Job, Submitted, Watch } from '../backend.js';
import type { Patience } from '../cluster.js';
import type { NomadClient } from './nomad.client.js';
import { versionOf } from './nomad.cluster.js';
import { isPassing } from './nomad.failures.js';
import { attestedOf } from './nomad.job.js';
import { AgentSelf } from './nomad.replies.js';
import { listJobs, stopJob } from './nomad.stop.js';
import { submitJob } from './nomad.submit.js';
import { watchJob } from './nomad.watch.js';

/** How long the version of a cluster is taken to be the same, and how long it is not asked for where it is not told. */
const VERSION_MS = 600_000;
const UNKNOWN_VERSION_MS = 60_000;

/** Runs jobs on a Nomad cluster. Any worker process can go on with any job. */
export class NomadBackend implements Backend {
  readonly kind = 'nomad';
  private version: { value: Promise<string | undefined>; until: number } | undefined;
  /** Of what was submitted just now, by its name. */
  private readonly attested = new Map<string, Record<string, unknown>>();

  constructor(
    private readonly spec: NomadRuntimeSpec,
    private readonly client: NomadClient,
    private readonly patience: Patience,
  ) {}

  async submit(
    job: Job,
    allocation: AllocationRef,
    isLive = async () => true,
    signal = new AbortController().signal,
  ): Promise<Submitted> {
    const { client, spec } = this;
    const attested = attestedOf(job, spec);
    const clusterVersion = () => this.clusterVersion();
    const submitted = await submitJob({ client, spec, job, allocation, isLive, clusterVersion, signal });
    if (submitted === 'created' || submitted === 'adopted') this.attested.set(allocation.name, attested);
    return submitted;
  }

  watch(allocation: AllocationRef, watch: Watch): AsyncIterable<AllocationEvent> {
    const { client, spec, patience } = this;
    return watchJob({ ...watch, client, spec, patience, allocation });
  }

  stop({ name }: AllocationRef): Promise<void> {
    return stopJob(this.client, name);
  }

  list(deployment: string, from?: string): Promise<AllocationPage> {
    return listJobs(this.client, deployment, from);
  }

  /** What the job was given. Where it runs is told while it is watched. */
  async provenance({ name }: AllocationRef): Promise<Record<string, unknown>> {
    const attested = this.attested.get(name);
    this.attested.delete(name);
    const { region, namespace = 'default' } = this.spec;
    return { ...(region !== undefined && { region }), namespace, ...attested };
  }

  /** Undefined where the token may not read it. Rejects where it could not be read now. */
  private clusterVersion(): Promise<string | undefined> {
    if (this.version && performance.now() < this.version.until) return this.version.value;
    // For all that ask meanwhile, whoever of them leaves.
    const { signal } = new AbortController();
    const version = {
      value: this.client.get('/v1/agent/self', AgentSelf, { signal }).then(
        (self) => versionOf(self) || undefined,
        (error: unknown) => {
          version.until = performance.now() + UNKNOWN_VERSION_MS;
          if (isPassing(error)) throw error;
          return undefined;
        },
      ),
      until: performance.now() + VERSION_MS,
    };
    this.version = version;
    return version.value;
  }
}
