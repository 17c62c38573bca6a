import { setMaxListeners } from 'node:events';
import type { ProbeReason } from '../../contracts/inspection.js';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { ClusterFailure } from '../cluster-client.js';
import type { K8sClient, Look } from './k8s.client.js';
import { refusalOf } from './k8s.failures.js';
import { isAllowed, JOB_RIGHTS, rightText } from './k8s.rights.js';

export interface Doubt {
  reason: ProbeReason;
  text: string;
}

type Spec = Pick<K8sRuntimeSpec, 'runtimeClass'>;

/** What a case of a runtime needs and would not find, by the cluster's own word. What that does not tell is no doubt. */
export async function doubtsOf({ runtimeClass }: Spec, namespace: string, client: K8sClient, look: Look) {
  // More calls than Node expects to wait for one signal.
  setMaxListeners(0, look.signal);
  const isAbsent = async (path: string): Promise<boolean> => {
    const reply = await client.ask('GET', path, look);
    return reply.status === 404 && refusalOf(reply).isAbsence;
  };
  const [hasNoNamespace, hasNoClass, missing] = await Promise.all([
    asked(() => isAbsent(`/api/v1/namespaces/${encodeURIComponent(namespace)}`)),
    runtimeClass !== undefined &&
      asked(() => isAbsent(`/apis/node.k8s.io/v1/runtimeclasses/${encodeURIComponent(runtimeClass)}`)),
    asked(() => missingRights(client, namespace, look)),
  ]);
  const doubts: Doubt[] = [];
  if (hasNoNamespace) doubts.push({ reason: 'error', text: `\`namespace\`: there is no ${namespace}` });
  if (hasNoClass) doubts.push({ reason: 'error', text: `\`runtimeClass\`: there is no ${runtimeClass}` });
  if (missing && missing.length > 0) {
    doubts.push({ reason: 'auth', text: `the account lacks in namespace ${namespace}: ${missing.join(', ')}` });
  }
  return doubts;
}

async function missingRights(client: K8sClient, namespace: string, look: Look): Promise<string[]> {
  const allowed = await Promise.all(JOB_RIGHTS.map((right) => isAllowed(client, namespace, right, look)));
  return JOB_RIGHTS.filter((_, at) => !allowed[at]).map(rightText);
}

async function asked<Found>(ask: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ClusterFailure)) throw error;
    return undefined;
  }
}
