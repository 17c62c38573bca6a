import type { ClusterOptions } from '../../backends/cluster.js';
import type { Env } from '../../config/env.js';
import { jobSettings } from '../../config/job-settings.js';
import type { OperatorFlags } from '../../policy/capabilities.js';
import type { JobSettings } from '../../policy/job-parts.js';

/** What the operator of this deployment allows, and its limits. */
export class Operator implements OperatorFlags {
  readonly allowLocalRuntimes: boolean;
  readonly allowUnisolatedDrivers: boolean;
  readonly allowAmbientKubeconfig: boolean;
  /** Kubeconfigs may run programs and read files of this host. */
  readonly allowKubeconfigExec: boolean;
  /** Connections to one Nomad. */
  readonly nomadConnections: number;
  /** What every job is given alike. */
  readonly jobs: JobSettings;
  /** Largest dataset upload, bytes. */
  readonly uploadLimit: number;

  /** How clusters are spoken to. */
  get clusters(): Omit<ClusterOptions, 'egress'> {
    const { nomadConnections, allowAmbientKubeconfig: allowAmbient, allowKubeconfigExec: allowHost } = this;
    return { nomadConnections, kubeconfigs: { allowAmbient, allowHost } };
  }

  constructor(env: Env) {
    this.allowLocalRuntimes = env.EVERDICT_ALLOW_LOCAL_RUNTIMES;
    this.allowUnisolatedDrivers = env.EVERDICT_ALLOW_UNISOLATED_DRIVERS;
    this.allowAmbientKubeconfig = env.EVERDICT_ALLOW_AMBIENT_KUBECONFIG;
    this.allowKubeconfigExec = env.EVERDICT_ALLOW_KUBECONFIG_EXEC;
    this.nomadConnections = env.EVERDICT_NOMAD_CONNECTIONS;
    this.jobs = jobSettings(env);
    this.uploadLimit = env.EVERDICT_UPLOAD_MB * 1024 * 1024;
  }
}
