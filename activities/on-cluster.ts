import { ClusterFailure } from '../backends/cluster-client.js';
import type { BackendResolver, ResolvedRuntime, RuntimeTarget } from '../backends/resolver.js';
import { PlatformError } from '../contracts/errors.js';

/** Works with a runtime; what keeps its cluster from answering is told by a code of the platform. */
export async function onCluster<T>(
  backends: Pick<BackendResolver, 'use'>,
  target: RuntimeTarget,
  work: (runtime: ResolvedRuntime) => Promise<T>,
): Promise<T> {
  try {
    return await backends.use(target, work);
  } catch (error) {
    throw error instanceof ClusterFailure ? told(error, target) : error;
  }
}

function told(failure: ClusterFailure, { spec }: RuntimeTarget): PlatformError {
  const { reason, message } = failure;
  const cause = { cause: failure };
  const whose = `runtime ${spec.id}@${spec.version}`;
  switch (reason) {
    case 'auth':
      return new PlatformError('CLUSTER_AUTH', `${whose}${secretOf(spec)}: ${message}`, {}, cause);
    case 'refused':
      return new PlatformError('BAD_SPEC', `${whose}: ${message}`, {}, cause);
    case 'unreachable':
    case 'error':
      return new PlatformError('CLUSTER_UNREACHABLE', `${whose}: ${message}`, {}, cause);
  }
}

function secretOf(spec: RuntimeTarget['spec']): string {
  if (spec.kind === 'local') return '';
  const secret = (spec.kind === 'k8s' && spec.kubeconfigSecret) || spec.authSecret;
  return secret ? ` with secret ${secret}` : ' without a secret';
}
