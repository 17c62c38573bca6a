import { z } from 'zod';
import { ClusterFailure } from '../cluster-client.js';
import type { K8sClient, Look, Reply } from './k8s.client.js';
import { ANONYMOUS, forbiddenAccount, NOBODY, refusalOf, unreadableFailure } from './k8s.failures.js';
import { accessReview, JOB_RIGHTS, REVIEWS } from './k8s.rights.js';

/** What a cluster says of itself and of us. Each absent where it does not tell. */
export interface K8sIdentity {
  version?: string;
  account?: string;
}

const Version = z.object({ gitVersion: z.string().regex(/^v\d{1,3}\.\d{1,3}[\w.+-]{0,60}$/) });
const SelfReview = z.object({
  status: z.object({ userInfo: z.object({ username: z.string().optional() }) }),
});
const ACCOUNT = /^[\w:@.+/-]{1,200}$/;

/**
 * Asks who the cluster is, then who we are to it. The version is told to anyone, so that alone proves no credential;
 * a wrong token is refused everywhere, but a kind of credential that a cluster does not know is just overlooked.
 */
export async function identify(client: K8sClient, namespace: string, look: Look): Promise<K8sIdentity> {
  const version = await readVersion(client, look);
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const reply = await client.ask('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body, ...look });
  if (reply.status < 300) return { version, account: accountOf(reply) };
  // Not allowed where an administrator took that from everyone; not known before Kubernetes 1.28.
  if (isOfSomebody(reply)) return { version, account: shown(forbiddenAccount(reply)) };
  if (reply.status !== 404) throw refusalOf(reply);
  await requireSomebody(client, namespace, look);
  return { version };
}

async function readVersion(client: K8sClient, look: Look): Promise<string | undefined> {
  const reply = await client.ask('GET', '/version', look);
  if (isOfSomebody(reply)) return undefined;
  if (reply.status >= 300) throw refusalOf(reply);
  const version = Version.safeParse(reply.body).data;
  if (!version) throw unreadableFailure();
  return version.gitVersion;
}

function accountOf({ body }: Reply): string | undefined {
  const review = SelfReview.safeParse(body).data;
  if (!review) throw unreadableFailure();
  const { username = '' } = review.status.userInfo;
  if (username === ANONYMOUS) throw new ClusterFailure('auth', NOBODY);
  return shown(username);
}

const shown = (account = ''): string | undefined => (ACCOUNT.test(account) ? account : undefined);

/** A refusal that is not of the credential: it names an account that may not do what was asked. */
const isOfSomebody = (reply: Reply): boolean => ![undefined, ANONYMOUS].includes(forbiddenAccount(reply));

async function requireSomebody(client: K8sClient, namespace: string, look: Look): Promise<void> {
  const [right] = JOB_RIGHTS;
  if (!right) return;
  const reply = await client.ask('POST', REVIEWS, { body: accessReview(namespace, right), ...look });
  if (reply.status >= 300 && !isOfSomebody(reply)) throw refusalOf(reply);
}
