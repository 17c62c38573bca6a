import { ClusterFailure } from '../backends/cluster-client.js';
import type { BackendResolver, ResolvedRuntime, RuntimeTarget } from '../backends/resolver.js';
import { PlatformError } from '../contracts/errors.js';
import { SecretMask } from '../policy/redact.js';

/**
 * Works with a runtime; what keeps its cluster from answering is told by a code of the platform. A cluster may repeat
 * what it was sent: of the `secrets` of a job, and of the cluster's own, nothing is told.
 */
export async function onCluster<T>(
  backends: Pick<BackendResolver, 'use'>,
  target: RuntimeTarget,
  work: (runtime: ResolvedRuntime) => Promise<T>,
  secrets: readonly string[] = [],
): Promise<T> {
  const hidden = [...secrets];
  try {
    return await backends.use(target, (runtime) => {
      if (runtime.credential?.token !== undefined) hidden.push(runtime.credential.token);
      return work(runtime);
    });
  } catch (error) {
    const known = error instanceof ClusterFailure ? told(error, target) : error;
    if (!(known instanceof PlatformError) || hidden.length === 0) throw known;
    const message = new SecretMask(hidden).text(known.message);
    throw new PlatformError(known.code, message, known.details, { cause: known });
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
