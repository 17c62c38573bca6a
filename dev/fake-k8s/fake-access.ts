import { type Answer, type Attributes, forbidden, ok } from './status.js';

export const ANONYMOUS = 'system:anonymous';

export interface Account {
  user: string;
  /** `get pods/log`, `list nodes`; `*` is everything. */
  rights: readonly string[];
  /** Where it has them; absent: everywhere. */
  namespaces?: readonly string[];
}

/** One call that came as far as the rights, and whether they let it pass: what a Role is held against. */
export interface Call {
  user: string;
  verb: string;
  group: string;
  /** With its subresource: `pods/log`. */
  resource: string;
  namespace?: string;
  name?: string;
  isAllowed: boolean;
}

export function may(account: Account | undefined, verb: string, resource: string, namespace?: string): boolean {
  if (!account) return false;
  const { rights, namespaces } = account;
  if (namespaces && (namespace === undefined || !namespaces.includes(namespace))) return false;
  return rights.includes('*') || rights.includes(`${verb} ${resource}`);
}

export const refusedBy = (account: Account | undefined, attributes: Attributes): Answer =>
  forbidden(account?.user ?? ANONYMOUS, attributes);

const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';

export function selfReview(account: Account | undefined): Answer {
  const asked = { verb: 'create', group: AUTHENTICATION, resource: 'selfsubjectreviews' };
  if (!account) return refusedBy(account, asked);
  const userInfo = { username: account.user, groups: ['system:authenticated'] };
  return ok({ kind: 'SelfSubjectReview', apiVersion: `${AUTHENTICATION}/v1`, status: { userInfo } }, 201);
}

interface Review {
  spec?: { resourceAttributes?: { verb?: string; resource?: string; subresource?: string; namespace?: string } };
}

export function accessReview(account: Account | undefined, body: unknown): Answer {
  const asked = { verb: 'create', group: AUTHORIZATION, resource: 'selfsubjectaccessreviews' };
  if (!account) return refusedBy(account, asked);
  const { spec } = body as Review;
  const { verb = '', resource = '', subresource, namespace } = spec?.resourceAttributes ?? {};
  const allowed = may(account, verb, subresource ? `${resource}/${subresource}` : resource, namespace || undefined);
  return ok(
    { kind: 'SelfSubjectAccessReview', apiVersion: `${AUTHORIZATION}/v1`, metadata: {}, spec, status: { allowed } },
    201,
  );
}
