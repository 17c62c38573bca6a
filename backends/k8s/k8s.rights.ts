import { z } from 'zod';
import type { K8sClient, Look } from './k8s.client.js';
import { refusalOf } from './k8s.failures.js';

/** One thing that an account may do in the namespace of the jobs. */
export interface Right {
  verb: string;
  group: '' | 'batch' | 'networking.k8s.io';
  resource: string;
  subresource?: string;
}

const rights = (group: Right['group'], resource: string, verbs: readonly string[], subresource?: string): Right[] =>
  verbs.map((verb) => ({ verb, group, resource, ...(subresource && { subresource }) }));

/** What running jobs needs. */
export const JOB_RIGHTS: readonly Right[] = [
  ...rights('batch', 'jobs', ['create', 'get', 'list', 'watch', 'patch', 'delete']),
  ...rights('', 'pods', ['list', 'watch', 'delete']),
  ...rights('', 'pods', ['get'], 'log'),
  // Not to read them: who may, may read those of others.
  ...rights('', 'secrets', ['create', 'delete']),
  ...rights('', 'events', ['list']),
];

/** What cases with `network: {mode: "none"}` need besides. */
export const NETWORK_RIGHTS: readonly Right[] = rights('networking.k8s.io', 'networkpolicies', ['create', 'delete']);

/** As people write it: `get pods/log`, `create jobs.batch`. */
export const rightText = ({ verb, group, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource ? `/${subresource}` : ''}${group && `.${group}`}`;

const Review = z.object({ status: z.object({ allowed: z.boolean() }) });
export const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

export function accessReview(namespace: string, right: Right): object {
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { namespace, ...right } },
  };
}

/** Whether our account has a right, by the cluster's own word. */
export async function isAllowed(client: K8sClient, namespace: string, right: Right, look: Look): Promise<boolean> {
  const reply = await client.ask('POST', REVIEWS, { body: accessReview(namespace, right), ...look });
  const review = reply.status < 300 ? Review.safeParse(reply.body).data : undefined;
  if (!review) throw refusalOf(reply);
  return review.status.allowed;
}
