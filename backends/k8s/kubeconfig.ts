import { load, YAMLException } from 'js-yaml';
import { z } from 'zod';
import type { FieldError } from '../../contracts/errors.js';
import { fieldErrors } from '../../contracts/issues.js';
import { ClusterFailure } from '../cluster-client.js';
import { faultsOfServer } from './k8s.server.js';

const LARGEST_KB = 256;
const MOST_NAMED = 3;
const ONE_OF_EACH = 'print the one that is meant with `kubectl config view --raw --minify --flatten`';

const Text = z.string().optional();
const Ignored = z.unknown().optional();

const Cluster = z.strictObject({
  server: z.string(),
  'certificate-authority-data': Text,
  'certificate-authority': Text,
  'tls-server-name': Text,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'proxy-url': Text,
  'disable-compression': z.boolean().optional(),
  extensions: Ignored,
});

const User = z.strictObject({
  token: Text,
  username: Text,
  password: Text,
  'client-certificate-data': Text,
  'client-key-data': Text,
  'client-certificate': Text,
  'client-key': Text,
  tokenFile: Text,
  exec: z.looseObject({}).optional(),
  'auth-provider': z.looseObject({ name: z.string() }).optional(),
  as: Ignored,
  'as-uid': Ignored,
  'as-groups': Ignored,
  'as-user-extra': Ignored,
  extensions: Ignored,
});

const one = <Schema extends z.ZodType>(what: string, schema: Schema) =>
  z.array(schema).length(1, `does not hold exactly one ${what}: ${ONE_OF_EACH}`);
const Name = z.string().min(1);

const File = z.strictObject({
  apiVersion: z.literal('v1').optional(),
  kind: z.literal('Config').optional(),
  clusters: one('cluster', z.strictObject({ name: Name, cluster: Cluster })),
  contexts: one(
    'context',
    z.strictObject({
      name: Name,
      context: z.strictObject({ cluster: Name, user: Name, namespace: Text, extensions: Ignored }),
    }),
  ),
  users: one('user', z.strictObject({ name: Name, user: User })),
  'current-context': z.string('is required'),
  preferences: Ignored,
  extensions: Ignored,
});

/** Who asks, and whom: the one cluster, user and namespace of a kubeconfig that was checked. */
export interface Kubeconfig {
  cluster: z.infer<typeof Cluster>;
  user: z.infer<typeof User>;
  namespace?: string;
}

/** Fields that need a program or a file of the platform's host, each with the one to use instead. */
const HOST_FIELDS = {
  cluster: { 'certificate-authority': 'certificate-authority-data' },
  user: {
    exec: 'token',
    'auth-provider': 'token',
    tokenFile: 'token',
    'client-certificate': 'client-certificate-data',
    'client-key': 'client-key-data',
  },
};

/** Whether the credential comes from programs or files of the host, not from the kubeconfig itself. */
export const needsHost = (kubeconfig: Kubeconfig): boolean => hostFaults(kubeconfig).length > 0;

/**
 * Reads a kubeconfig that somebody stored, trusting nothing in it. Faults name the field, and show no value of it.
 * `allowHost`: the operator lets kubeconfigs run programs and read files of the platform's host.
 */
export function parseKubeconfig(text: string, { allowHost }: { allowHost: boolean }): Kubeconfig {
  const parsed = File.safeParse(parseYaml(text));
  if (!parsed.success) throw refused(fieldErrors(parsed.error));
  const { clusters, contexts, users, 'current-context': current } = parsed.data;
  const [[cluster], [context], [user]] = [clusters, contexts, users];
  if (!cluster || !context || !user) throw refused([{ path: '', message: ONE_OF_EACH }]);
  const faults = [
    ...referenceFaults('current-context', current, context.name, 'context'),
    ...referenceFaults('contexts[0].context.cluster', context.context.cluster, cluster.name, 'cluster'),
    ...referenceFaults('contexts[0].context.user', context.context.user, user.name, 'user'),
    ...clusterFaults(cluster.cluster),
    ...userFaults(user.user),
    ...(allowHost ? [] : hostFaults({ cluster: cluster.cluster, user: user.user })),
  ];
  if (faults.length > 0) throw refused(faults);
  return { cluster: cluster.cluster, user: user.user, namespace: context.context.namespace || undefined };
}

function parseYaml(text: string): unknown {
  const sizeKb = Math.ceil(Buffer.byteLength(text) / 1024);
  if (sizeKb > LARGEST_KB) {
    throw refused([{ path: '', message: `has ${sizeKb} KB, more than the allowed ${LARGEST_KB}: ${ONE_OF_EACH}` }]);
  }
  try {
    return load(text, { maxDepth: 20, maxAliases: 0 });
  } catch (error) {
    // Its own message shows the line, which may hold a key.
    const line = error instanceof YAMLException && error.mark ? ` (line ${error.mark.line + 1})` : '';
    throw refused([{ path: '', message: `is not one plain YAML document without aliases${line}` }]);
  }
}

const referenceFaults = (path: string, given: string, name: string, what: string): FieldError[] =>
  given === name ? [] : [{ path, message: `is not the name of the ${what} in this file` }];

function clusterFaults(cluster: Kubeconfig['cluster']): FieldError[] {
  const at = (field: string, message: string): FieldError => ({ path: `clusters[0].cluster.${field}`, message });
  const faults = faultsOfServer(cluster.server).map((message) => at('server', message));
  if (cluster['insecure-skip-tls-verify']) {
    const message = 'would give the credential to whoever answers: use certificate-authority-data';
    faults.push(at('insecure-skip-tls-verify', message));
  }
  if (cluster['proxy-url']) faults.push(at('proxy-url', 'is not supported: the cluster is asked directly'));
  return faults;
}

function userFaults(user: Kubeconfig['user']): FieldError[] {
  const at = (field: string, message: string): FieldError => ({ path: `users[0].user.${field}`, message });
  const faults: FieldError[] = [];
  for (const field of ['as', 'as-uid', 'as-groups', 'as-user-extra'] as const) {
    if (user[field]) faults.push(at(field, 'is not supported: use the credential of the account that is meant'));
  }
  const [hasCert, hasKey] = [user['client-certificate-data'], user['client-key-data']].map(Boolean);
  if (hasCert && !hasKey && !user['client-key']) faults.push(at('client-key-data', 'is required with the certificate'));
  if (hasKey && !hasCert && !user['client-certificate']) {
    faults.push(at('client-certificate-data', 'is required with the key'));
  }
  const isSomebody = user.token || user.username || hasCert || setFields(user, HOST_FIELDS.user).length > 0;
  if (!isSomebody) {
    const message = 'holds no credential: give token, or client-certificate-data with client-key-data';
    faults.push({ path: 'users[0].user', message });
  }
  return faults;
}

const setFields = (given: Record<string, unknown>, fields: Record<string, string>): [string, string][] =>
  Object.entries(fields).filter(([field]) => Boolean(given[field]));

function hostFaults({ cluster, user }: Pick<Kubeconfig, 'cluster' | 'user'>): FieldError[] {
  const fields = [
    ...setFields(cluster, HOST_FIELDS.cluster).map(([field, instead]) => [`clusters[0].cluster.${field}`, instead]),
    ...setFields(user, HOST_FIELDS.user).map(([field, instead]) => [`users[0].user.${field}`, instead]),
  ];
  return fields.map(([path = '', instead]) => ({
    path,
    message: `needs a program or file of the platform's host, which its operator has not allowed: use ${instead}`,
  }));
}

function refused(faults: readonly FieldError[]): ClusterFailure {
  const named = faults
    .slice(0, MOST_NAMED)
    .map(({ path, message }) => (path ? `\`${path}\` ${message}` : `it ${message}`));
  const rest = faults.length > MOST_NAMED ? [`and ${faults.length - MOST_NAMED} more`] : [];
  return new ClusterFailure('refused', `the kubeconfig is refused: ${[...named, ...rest].join('; ')}`);
}
