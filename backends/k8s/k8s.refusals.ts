import { PlatformError } from '../../contracts/errors.js';
import { ClusterFailure } from '../cluster-client.js';
import { asRefused } from '../cluster-failures.js';
import { oneLine, quoted } from '../cluster-text.js';
import { ANONYMOUS, type Cause, forbiddenAccount, K8sRefusal, rightIn, type Status } from './k8s.failures.js';

/** Causes that a message names. */
const MOST_CAUSES = 4;
const RUNBOOK = 'docs/runbooks/kubernetes.md has the Role';

/** Fields of ours by those of what is made of them. */
const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/nodeSelector/, '`nodeSelector`'],
  [/tolerations/, '`tolerations`'],
  [/runtimeClass/, '`runtimeClass`'],
  [/\.image$/, '`image`'],
  [/resources.*memory/, '`resources.memoryMb`'],
  [/resources.*cpu/, '`resources.cpu`'],
  [/resources.*gpu|limits$/, '`resources.gpu`'],
  [/activeDeadlineSeconds/, '`timeoutSec`'],
];

/** Why nothing can be made now although it may be later: a quota has no room for it, in its own numbers. */
export function quotaIn(error: unknown): string | undefined {
  if (!(error instanceof K8sRefusal) || error.status !== 403) return undefined;
  const [, quota, numbers] = /exceeded quota: (\S+?),? (requested: .*)$/s.exec(error.said?.message ?? '') ?? [];
  if (quota === undefined || numbers === undefined) return undefined;
  return `placement blocked: the quota ${oneLine(quota)} is used up (${quoted(numbers)})`;
}

/** What a refusal of an object that a job needs means, with the field and the way out. Others stay what they are. */
export function explained(error: unknown, namespace: string): unknown {
  if (!(error instanceof K8sRefusal)) return asRefused(error);
  const { status, said } = error;
  if (status === 413 || (said && isTooLarge(said))) {
    const message = `Kubernetes takes no object as large as one of this job (${status}): its files have to be smaller`;
    return new PlatformError('PAYLOAD_TOO_LARGE', message, {}, { cause: error });
  }
  const message = said && meaningOf(error, said, oneLine(namespace));
  if (!said || message === undefined) return error;
  return new ClusterFailure(isOfWebhook(said) ? 'error' : 'refused', message, { cause: error });
}

function meaningOf(refusal: K8sRefusal, said: Status, namespace: string): string | undefined {
  const { status } = refusal;
  if (status === 404 && said.details.kind === 'namespaces') {
    return `\`namespace\`: Kubernetes has no namespace ${namespace}: create it there, or name another`;
  }
  if (isOfWebhook(said))
    return `an admission webhook of the cluster does not answer it (${status}): ${quoted(said.message)}`;
  if (status === 403) return forbidden(refusal, said, namespace);
  if (status === 422) return invalid(said);
  if (status === 400) return `Kubernetes refuses the job: ${quoted(said.message)}`;
  return undefined;
}

function forbidden(refusal: K8sRefusal, said: Status, namespace: string): string | undefined {
  const account = forbiddenAccount(refusal.reply);
  if (account === ANONYMOUS) return undefined;
  if (account !== undefined) {
    const right = rightIn(refusal.reply) ?? 'do that';
    return `\`namespace\`: the account ${oneLine(account, 200)} may not ${right} in ${namespace}, if there is such a namespace (403): ${RUNBOOK}`;
  }
  const isEnding = said.details.causes.some(({ reason }) => reason === 'NamespaceTerminating');
  if (isEnding || said.message.includes('because it is being terminated')) {
    return `\`namespace\`: ${namespace} is being deleted in Kubernetes: name another`;
  }
  return `Kubernetes refuses the job: ${quoted(said.message)}`;
}

/** Every cause: one that is mended alone leads to the next. */
function invalid({ message, details: { causes } }: Status): string {
  const named = causes.filter(({ field }) => field !== undefined && field !== '');
  if (named.length === 0) return `Kubernetes refuses the job: ${quoted(message)}`;
  const shown = named.slice(0, MOST_CAUSES).map(causeText);
  const more = named.length - shown.length;
  return `Kubernetes refuses the job: ${[...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')}`;
}

function causeText({ field = '', message = '' }: Cause): string {
  const ours = FIELDS.find(([pattern]) => pattern.test(field))?.[1];
  return `${ours ? `${ours}: ` : ''}${oneLine(field, 200)}: ${quoted(message)}`;
}

/** A Job that is larger than what the store takes is refused with a complaint of labels that nobody gave it. */
const isTooLarge = ({ reason, message, details: { causes } }: Status): boolean =>
  reason === 'RequestEntityTooLarge' ||
  /selector not auto-generated|etcdserver: request is too large/.test(message) ||
  causes.some(({ field, message: why = '' }) => field === 'data' && why.startsWith('Too long'));

const isOfWebhook = ({ message }: Status): boolean => message.includes('failed calling webhook');
