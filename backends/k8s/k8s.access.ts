import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { K8sRuntimeSpec } from '../../contracts/runtime.js';
import { addressFault, type BoundCredential } from '../../secrets/cluster-credential.js';
import { ClusterFailure } from '../cluster-client.js';
import { faultsOfServer } from './k8s.server.js';
import { ambientIdentity, hostIdentity } from './kubeconfig.host.js';
import { type Kubeconfig, needsHost, parseKubeconfig } from './kubeconfig.js';

/** How a cluster is spoken to: all of it in memory, and none of it for showing. */
export interface K8sAccess extends Identity {
  server: URL;
  namespace: string;
  /** A program or file of the host gave the credential, and may have another later. */
  isOfHost?: true;
}

/** Who we are, and how we know that it is the cluster. */
export interface Identity {
  /** The `Authorization` header. Absent: a client certificate says who we are. */
  authorization?: string;
  /** PEM of a private certificate authority. Absent: the public ones. */
  ca?: string;
  /** PEM of a client certificate. */
  cert?: string;
  key?: string;
  /** The name on the server's certificate, where it is not the host of its address. */
  servername?: string;
}

export interface K8sPolicy {
  /** Runtimes may name a context of the platform's own kubeconfig. */
  allowAmbient: boolean;
  /** Kubeconfigs may run programs and read files of the platform's host. */
  allowHost: boolean;
}

/** The first that is given: `kubeconfigSecret`, `authSecret`, `context`. Throws a `ClusterFailure` that names the field. */
export async function openAccess(
  spec: K8sRuntimeSpec,
  credential: BoundCredential | undefined,
  policy: K8sPolicy,
): Promise<K8sAccess> {
  const path = spec.kubeconfigSecret ? 'kubeconfigSecret' : spec.authSecret ? 'authSecret' : undefined;
  if (path === undefined) return ambientAccess(spec, policy);
  if (credential?.path !== path) throw refuse(path, `names the secret ${spec[path]}, which is not given`);
  const access =
    path === 'authSecret' ? tokenAccess(spec, credential) : await kubeconfigAccess(spec, credential, policy);
  requireUsable(access, path);
  return access;
}

/** The kubeconfig of a secret, if it may be used, and sent to where it says. Throws a `ClusterFailure`. */
export function boundKubeconfig(
  credential: BoundCredential,
  policy: Pick<K8sPolicy, 'allowHost'>,
): { kubeconfig: Kubeconfig; server: URL } {
  const kubeconfig = parseKubeconfig(credential.kubeconfig ?? '', policy);
  return { kubeconfig, server: boundServer(credential, kubeconfig.cluster.server) };
}

function tokenAccess(spec: K8sRuntimeSpec, credential: BoundCredential): K8sAccess {
  const { name, token: value = '' } = credential;
  const token = value.trim();
  const isKubeconfig = /^(\{|apiVersion|clusters)/.test(token);
  if (isKubeconfig || !/^[\x21-\x7e]+$/.test(token)) {
    const hint = isKubeconfig ? ': a kubeconfig goes into `kubeconfigSecret`' : '';
    throw refuse('authSecret', `names the secret ${name}, which is no bearer token${hint}`);
  }
  return {
    server: boundServer(credential, spec.server ?? ''),
    namespace: spec.namespace ?? 'default',
    authorization: `Bearer ${token}`,
    ca: spec.caCert,
  };
}

async function kubeconfigAccess(
  spec: K8sRuntimeSpec,
  credential: BoundCredential,
  policy: K8sPolicy,
): Promise<K8sAccess> {
  const { kubeconfig, server } = boundKubeconfig(credential, policy);
  const identity = needsHost(kubeconfig) ? await hostIdentity(kubeconfig) : ownIdentity(kubeconfig);
  return {
    ...identity,
    ca: identity.ca ?? spec.caCert,
    server,
    ...(needsHost(kubeconfig) && { isOfHost: true as const }),
    namespace: spec.namespace ?? kubeconfig.namespace ?? 'default',
  };
}

async function ambientAccess(spec: K8sRuntimeSpec, { allowAmbient }: K8sPolicy): Promise<K8sAccess> {
  if (!allowAmbient) {
    throw refuse('context', 'is of the platform’s own kubeconfig, which its operator has not opened: use a secret');
  }
  const { server, namespace, ...identity } = await ambientIdentity(spec.context ?? '');
  const access: K8sAccess = {
    ...identity,
    isOfHost: true,
    ca: identity.ca ?? spec.caCert,
    server: serverOf(server, 'context'),
    namespace: spec.namespace ?? namespace ?? 'default',
  };
  requireUsable(access, 'context');
  return access;
}

function ownIdentity({ cluster, user }: Kubeconfig): Identity {
  const basic = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return {
    authorization: user.token ? `Bearer ${user.token}` : user.username ? `Basic ${basic}` : undefined,
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
    servername: cluster['tls-server-name'] || undefined,
  };
}

const decoded = (base64: string | undefined): string | undefined =>
  base64 ? Buffer.from(base64, 'base64').toString('utf8') : undefined;

function boundServer(credential: BoundCredential, text: string): URL {
  const server = serverOf(text, 'server');
  const fault = addressFault(credential, { path: 'server', url: server.href });
  if (fault) throw refuse(fault.path, fault.message);
  return server;
}

function serverOf(text: string, path: string): URL {
  const [fault] = faultsOfServer(text);
  if (fault) throw refuse(path, fault);
  return new URL(text);
}

/** What a socket would refuse later, and less clearly. */
function requireUsable({ authorization = '', ca, cert, key }: K8sAccess, path: string): void {
  if (!/^[\x20-\x7e]*$/.test(authorization)) throw refuse(path, 'holds a credential that is not visible ASCII');
  if (ca !== undefined && !isCertificate(ca)) throw refuse(path, 'comes with a certificate authority that is no PEM');
  if (cert === undefined) return;
  const certificate = parsed(() => new X509Certificate(cert));
  if (!certificate) throw refuse(path, 'holds a client certificate that is no PEM');
  const privateKey = parsed(() => createPrivateKey(key ?? ''));
  if (!privateKey) throw refuse(path, 'holds a client key that is no PEM, or that needs a passphrase');
  if (!certificate.checkPrivateKey(privateKey)) throw refuse(path, 'holds a client key of another certificate');
  if (!parsed(() => createSecureContext({ cert, key }))) {
    throw refuse(path, 'holds a client certificate that is too weak for TLS');
  }
}

const isCertificate = (pem: string): boolean => parsed(() => new X509Certificate(pem)) !== undefined;

function parsed<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const refuse = (path: string, message: string): ClusterFailure =>
  new ClusterFailure('refused', `\`${path}\` ${message}`);
