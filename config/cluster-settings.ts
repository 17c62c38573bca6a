import type { Env } from './env.js';

/** How clusters are spoken to, by every process alike. */
export const clusterSettings = (env: Env) => ({
  deployment: env.EVERDICT_DEPLOYMENT,
  nomadConnections: env.EVERDICT_NOMAD_CONNECTIONS,
  patience: {
    startMs: env.EVERDICT_START_PATIENCE_SEC * 1_000,
    pullErrorMs: env.EVERDICT_PULL_PATIENCE_SEC * 1_000,
  },
  kubeconfigs: {
    allowAmbient: env.EVERDICT_ALLOW_AMBIENT_KUBECONFIG,
    allowHost: env.EVERDICT_ALLOW_KUBECONFIG_EXEC,
  },
});
