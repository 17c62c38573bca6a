import { z } from 'zod';
import { ClusterFailure } from '../cluster-client.js';
import type { Reply } from './k8s.client.js';

/** An API server answered, and not with what was asked for. */
export class K8sRefusal extends ClusterFailure {
  constructor(
    readonly status: number,
    ...rest: ConstructorParameters<typeof ClusterFailure>
  ) {
    super(...rest);
  }
}

const Text = z.string().optional().catch(undefined);
const Status = z.object({ kind: z.literal('Status'), reason: Text, message: Text });

/** Reasons of the API server that are passed on: other words of a stranger are not. */
const REASONS = new Set([
  'BadRequest',
  'Conflict',
  'Expired',
  'Gone',
  'InternalError',
  'Invalid',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'ServerTimeout',
  'ServiceUnavailable',
  'StorageReadError',
  'Timeout',
  'UnsupportedMediaType',
]);

/** What a status that is no success means, in our words. */
export function refusalOf({ status, body }: Reply): K8sRefusal {
  const said = Status.safeParse(body).data;
  const reason = said?.reason && REASONS.has(said.reason) ? ` ${said.reason}` : '';
  if (status === 401) return new K8sRefusal(status, 'auth', 'it does not accept the credential (401)');
  if (status === 403) {
    const isNobody = forbiddenAccount({ status, body }) === ANONYMOUS;
    return new K8sRefusal(status, 'auth', isNobody ? NOBODY : 'the account may not do that (403)');
  }
  if (status === 404 && !said) return new K8sRefusal(status, 'error', 'it is no Kubernetes API server (404)');
  if (status === 404) return new K8sRefusal(status, 'error', 'there is no such thing (404)');
  if (status === 429) return new K8sRefusal(status, 'error', 'it has too many requests (429)');
  const origin = said ? '' : ', and not as a Kubernetes API server does';
  return new K8sRefusal(status, 'error', `it answers ${status}${reason}${origin}`);
}

/** Whom an API server refuses something: it knows them. */
export function forbiddenAccount({ status, body }: Reply): string | undefined {
  const said = status === 403 ? Status.safeParse(body).data : undefined;
  return /\bUser "([^"]{1,200})" cannot /.exec(said?.message ?? '')?.[1];
}

/** Anonymous requests are answered, too: that something is answered says nothing of the credential. */
export const NOBODY = 'it does not know the credential, and takes us for anonymous';
export const ANONYMOUS = 'system:anonymous';

export const plainHttpFailure = (): ClusterFailure =>
  new ClusterFailure('error', 'it speaks HTTPS: give an https:// address');

export const unreadableFailure = (): ClusterFailure =>
  new ClusterFailure('error', 'it is no Kubernetes API server: it answers with something else than JSON');
