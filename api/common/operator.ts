import { clusterSettings } from '../../config/cluster-settings.js';
import type { Env } from '../../config/env.js';
import { jobSettings } from '../../config/job-settings.js';
import type { OperatorFlags } from '../../policy/capabilities.js';
import type { JobSettings } from '../../policy/job-parts.js';
import { Depth } from '../../store/depth.js';

/** What the operator of this deployment allows, and its limits. */
export class Operator implements OperatorFlags {
  readonly allowLocalRuntimes: boolean;
  readonly allowUnisolatedDrivers: boolean;
  readonly allowAmbientKubeconfig: boolean;
  readonly networkPolicyClusters: readonly string[];
  /** How clusters are spoken to. */
  readonly clusters: ReturnType<typeof clusterSettings>;
  /** What every job is given alike. */
  readonly jobs: JobSettings;
  /** Largest dataset upload, bytes. */
  readonly uploadLimit: number;
  /** How much may wait. */
  readonly depth: Depth;
  /** Whose tokens people come with, if anybody's. */
  readonly tokenIssuer: string | undefined;
  /** How long what is deleted can be restored. */
  readonly deletionGraceSec: number;

  constructor(env: Env) {
    this.allowLocalRuntimes = env.EVERDICT_ALLOW_LOCAL_RUNTIMES;
    this.allowUnisolatedDrivers = env.EVERDICT_ALLOW_UNISOLATED_DRIVERS;
    this.allowAmbientKubeconfig = env.EVERDICT_ALLOW_AMBIENT_KUBECONFIG;
    this.networkPolicyClusters = env.EVERDICT_NETWORK_POLICY_CLUSTERS;
    this.clusters = clusterSettings(env);
    this.jobs = jobSettings(env);
    this.uploadLimit = env.EVERDICT_UPLOAD_MB * 1024 * 1024;
    this.tokenIssuer = env.EVERDICT_OIDC_ISSUER;
    this.deletionGraceSec = env.EVERDICT_DELETION_GRACE_SEC;
    this.depth = new Depth({
      workspace: env.EVERDICT_MAX_WAITING_PER_WORKSPACE,
      deployment: env.EVERDICT_MAX_WAITING,
    });
  }
}
