import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { ClusterFailure } from '../cluster-client.js';
import type { Identity } from './k8s.access.js';
import type { Kubeconfig } from './kubeconfig.js';

/** Large, and needed only where an operator has opened the platform's host. */
const newKubeConfig = async (): Promise<KubeConfig> => new (await import('@kubernetes/client-node')).KubeConfig();

/** Takes the credential of a kubeconfig from the program or the files that it names. */
export async function hostIdentity({ cluster, user }: Kubeconfig): Promise<Identity> {
  const config = await newKubeConfig();
  const name = 'own';
  // Its own reader takes `tokenFile` for nothing.
  const fileToken = user.tokenFile && { name: 'tokenFile', config: { tokenFile: user.tokenFile } };
  config.loadFromOptions({
    clusters: [
      {
        name,
        server: cluster.server,
        caData: cluster['certificate-authority-data'],
        caFile: cluster['certificate-authority'],
        tlsServerName: cluster['tls-server-name'],
      },
    ],
    users: [
      {
        name,
        exec: user.exec,
        authProvider: fileToken || user['auth-provider'],
        token: user.token,
        username: user.username,
        password: user.password,
        certData: user['client-certificate-data'],
        certFile: user['client-certificate'],
        keyData: user['client-key-data'],
        keyFile: user['client-key'],
      },
    ],
    contexts: [{ name, cluster: name, user: name }],
    currentContext: name,
  });
  return identityOf(config, 'kubeconfigSecret');
}

/** What the platform's own kubeconfig, or its service account, says of a context. */
export async function ambientIdentity(context: string): Promise<Identity & { server: string; namespace?: string }> {
  const config = await newKubeConfig();
  try {
    config.loadFromDefault();
  } catch (cause) {
    throw new ClusterFailure('refused', '`context`: the platform’s own kubeconfig cannot be read', { cause });
  }
  const named = config.getContextObject(context);
  config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (!named || !cluster) {
    throw new ClusterFailure('refused', '`context` is not one of the platform’s own kubeconfig');
  }
  const unsupported = cluster.proxyUrl
    ? 'proxy-url'
    : cluster.skipTLSVerify
      ? 'insecure-skip-tls-verify'
      : config.getCurrentUser()?.impersonateUser && 'as';
  if (unsupported) {
    throw new ClusterFailure('refused', `\`context\` is of a kubeconfig with ${unsupported}, which is not supported`);
  }
  const identity = await identityOf(config, 'context');
  return { ...identity, server: cluster.server, namespace: named.namespace || undefined };
}

async function identityOf(config: KubeConfig, path: string): Promise<Identity> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (cause) {
    // Its message may hold what the program printed.
    const message = `\`${path}\`: the program or file that it takes its credential from gave none`;
    throw new ClusterFailure('refused', message, { cause });
  }
  const basic = options.auth ? `Basic ${Buffer.from(options.auth).toString('base64')}` : undefined;
  return {
    authorization: authorizationOf(options.headers)?.trim() ?? basic,
    ca: text(options.ca),
    cert: text(options.cert),
    key: text(options.key),
    servername: text(options.servername),
  };
}

const authorizationOf = (headers: RequestOptions['headers'] = {}): string | undefined =>
  'Authorization' in headers ? text(headers.Authorization) : undefined;

const text = (value: unknown): string | undefined =>
  Buffer.isBuffer(value) ? value.toString('utf8') : typeof value === 'string' ? value : undefined;
