import { PlatformError } from '../../contracts/errors.js';
import { oneLine } from '../cluster-text.js';
import { pause } from '../pause.js';
import { withTimeLimit } from '../time-limit.js';
import { isPassing, K8sRefusal } from './k8s.failures.js';
import { ALLOCATION_LABEL, APP, isNamedBy } from './k8s.labels.js';
import type { Connected } from './k8s.link.js';
import { networkPolicyName, payloadSecretName, pullSecretName } from './k8s.names.js';
import { jobPath, networkPolicyPath, podPath, podsPath, secretPath } from './k8s.paths.js';
import { type K8sJob, Pod } from './k8s.replies.js';
import { readJob } from './k8s.submit.js';

/** A process that does not end is killed after some seconds; a node that does not answer may be away for hours. */
const STOP_MS = 45_000;
const FIRST_LOOK_MS = 60;
const LONGEST_LOOK_MS = 1_000;
/** Pods go by themselves once their Job has gone: whoever has not been told to by then has lost its owner. */
const ORPHAN_MS = 3_000;
/** Pods that a message names. */
const MOST_NAMED = 3;

/**
 * Removes a Job with all that it owns, and reads back that neither it nor a pod of it is left. What was parted from its
 * Job is removed by its own name: Secrets, the network policy, pods.
 */
export async function stopJob(connected: Connected, name: string): Promise<void> {
  let left = '';
  try {
    await withTimeLimit(new AbortController().signal, STOP_MS, async (signal) => {
      const stop = new Stop(connected, name, signal);
      if (!(await stop.begin())) return;
      for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(LONGEST_LOOK_MS, pauseMs * 1.5)) {
        left = await stop.left();
        if (left === '') return;
        await pause(pauseMs, signal);
      }
    });
  } catch (error) {
    if (left === '' || !isPassing(error)) throw error;
    const message = `${name} was deleted, and Kubernetes does not confirm its end: ${left}`;
    throw new PlatformError('CLUSTER_UNREACHABLE', message, {}, { cause: error });
  }
}

/** One removal under way. */
class Stop {
  private readonly begun = performance.now();

  constructor(
    private readonly connected: Connected,
    private readonly name: string,
    private readonly signal: AbortSignal,
  ) {}

  /** False where what is called so is not ours. */
  async begin(): Promise<boolean> {
    const { name } = this;
    const job = await this.job();
    if (job && !isNamedBy(job.metadata.labels, name)) return false;
    if (job) await this.deleteJob(job);
    const { namespace } = this.connected;
    await this.deleteAt(secretPath(namespace, payloadSecretName({ name })));
    await this.deleteAt(secretPath(namespace, pullSecretName({ name })));
    await this.deleteAt(networkPolicyPath(namespace, networkPolicyName({ name }))).catch(unlessForbidden);
    return true;
  }

  /** What there is still; nothing, in the end. */
  async left(): Promise<string> {
    const { client, namespace } = this.connected;
    const found = await this.job();
    const job = found && isNamedBy(found.metadata.labels, this.name) ? found : undefined;
    // One that was on its way while the first was looked for.
    if (job && job.metadata.deletionTimestamp === undefined) await this.deleteJob(job);
    const labelSelector = allocationSelector(this.name);
    const { items } = await client.list(podsPath(namespace), Pod, { labelSelector, signal: this.signal });
    const pods = items.filter(({ metadata }) => isNamedBy(metadata.labels, this.name));
    for (const pod of pods) if (this.isParted(pod)) await this.deletePod(pod);
    return [...(job ? [jobText(job)] : []), ...podTexts(pods)].join(', ');
  }

  private job(): Promise<K8sJob | undefined> {
    const { client, namespace } = this.connected;
    return readJob(client, namespace, this.name, this.signal);
  }

  private async deleteJob({ metadata: { uid } }: K8sJob): Promise<void> {
    await this.deleteAt(jobPath(this.connected.namespace, this.name), uid);
  }

  private async deletePod({ metadata: { name, uid } }: Pod): Promise<void> {
    await this.deleteAt(podPath(this.connected.namespace, name), uid);
  }

  private async deleteAt(path: string, uid?: string): Promise<void> {
    await this.connected.client.delete(path, { signal: this.signal, ...(uid !== undefined && { uid }) });
  }

  private isParted({ metadata: { deletionTimestamp, ownerReferences } }: Pod): boolean {
    if (deletionTimestamp !== undefined) return false;
    return !isOwned({ ownerReferences }) || performance.now() - this.begun > ORPHAN_MS;
  }
}

const allocationSelector = (name: string): string => `app=${APP},${ALLOCATION_LABEL}=${name}`;

/** Whether it goes with its Job. */
export const isOwned = ({ ownerReferences }: Pick<Pod['metadata'], 'ownerReferences'>): boolean =>
  ownerReferences.some(({ kind }) => kind === 'Job');

/** Who never closes a network needs no right for it; what its Job owns goes with that. */
function unlessForbidden(error: unknown): void {
  if (!(error instanceof K8sRefusal && error.status === 403)) throw error;
}

function jobText({ metadata: { finalizers = [] } }: K8sJob): string {
  return finalizers.length > 0 ? oneLine(`its Job, which waits for ${finalizers.join(', ')}`) : 'its Job';
}

function podTexts(pods: readonly Pod[]): string[] {
  const named = pods.slice(0, MOST_NAMED).map(({ metadata: { name, deletionTimestamp }, spec, status }) => {
    const where = spec.nodeName === undefined ? '' : ` on ${spec.nodeName}`;
    return oneLine(
      `pod ${name}${where} (${status.phase}${deletionTimestamp === undefined ? '' : ', being deleted'})`,
      200,
    );
  });
  const more = pods.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])];
}
