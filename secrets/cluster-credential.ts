import { type FieldError, PlatformError } from '../contracts/errors.js';
import type { RuntimeSpec } from '../contracts/runtime.js';
import { isBoundTo } from '../policy/origins.js';
import type { OpenSecret, SecretReading, SecretStore } from './secret.store.js';

/** What a runtime authenticates with: the value of the secret it names. */
export interface ClusterCredential {
  /** Of `authSecret`: a Nomad ACL token, or a bearer token of Kubernetes. */
  token?: string;
  /** Of `kubeconfigSecret`: a whole kubeconfig. */
  kubeconfig?: string;
}

/** With the only origins it may be sent to. */
export interface BoundCredential extends ClusterCredential {
  /** Name of the secret. */
  name: string;
  /** The field of the spec that names it. */
  path: 'authSecret' | 'kubeconfigSecret';
  origins: readonly string[];
  /** Another one whenever the secret was set. */
  version: number;
}

/** The secret that a spec names for its cluster, and the address it is meant for, where the spec itself says that. */
interface Naming {
  path: BoundCredential['path'];
  name: string;
  address?: { path: string; url: string };
}

export type CredentialReply =
  /** The spec names none. */
  | { kind: 'none' }
  | { kind: 'given'; credential: BoundCredential }
  /** No secret has that name. */
  | { kind: 'missing'; name: string; fault: FieldError }
  /** It may not be used here, or cannot be read. */
  | { kind: 'refused'; fault: FieldError };

/** A kubeconfig has the address in itself: whoever parses it asks `addressFault`. */
export function clusterSecretOf(spec: RuntimeSpec): Naming | undefined {
  if (spec.kind === 'local') return undefined;
  if (spec.kind === 'k8s' && spec.kubeconfigSecret) return { path: 'kubeconfigSecret', name: spec.kubeconfigSecret };
  if (!spec.authSecret) return undefined;
  const address = spec.kind === 'nomad' ? { path: 'addr', url: spec.addr } : { path: 'server', url: spec.server ?? '' };
  return { path: 'authSecret', name: spec.authSecret, address };
}

/** Why a credential may not be sent to an address; nothing if it may. */
export function addressFault(
  { name, path, origins }: Pick<BoundCredential, 'name' | 'path' | 'origins'>,
  address: { path: string; url: string },
): FieldError | undefined {
  if (isBoundTo(origins, address.url)) return undefined;
  const message = `names the secret ${name}, which may be sent to ${origins.join(', ')} only, and \`${address.path}\` is another address`;
  return { path, message };
}

/** Finds the credential of a runtime. The one place that hands the value of a `cluster` secret out. */
export class ClusterCredentials {
  constructor(private readonly secrets: Pick<SecretStore, 'open' | 'versions'>) {}

  /** Version of the secret that a runtime names, without its value; absent where it names none, or none is there. */
  async versionOf(workspaceId: string, spec: RuntimeSpec): Promise<number | undefined> {
    const naming = clusterSecretOf(spec);
    return naming && (await this.secrets.versions(workspaceId, [naming.name])).get(naming.name);
  }

  async of(workspaceId: string, spec: RuntimeSpec): Promise<CredentialReply> {
    const naming = clusterSecretOf(spec);
    if (!naming) return { kind: 'none' };
    const [reading] = await this.secrets.open(workspaceId, [naming.name]);
    return replyOf(naming, reading);
  }

  /** The credential, or nothing where the spec names none. Refuses, by the secret's name, what cannot be used. */
  async required(workspaceId: string, spec: RuntimeSpec): Promise<BoundCredential | undefined> {
    const reply = await this.of(workspaceId, spec);
    if (reply.kind === 'none') return undefined;
    if (reply.kind === 'given') return reply.credential;
    const { path, message } = reply.fault;
    const errors = [reply.fault];
    throw new PlatformError('SECRET_MISSING', `\`${path}\` of runtime ${spec.id} ${message}`, { errors });
  }
}

function replyOf(naming: Naming, reading: SecretReading | undefined): CredentialReply {
  const { path, name } = naming;
  const refuse = (message: string): CredentialReply => ({ kind: 'refused', fault: { path, message } });
  if (!reading || reading.kind === 'missing') {
    return { kind: 'missing', name, fault: { path, message: `names the secret ${name}, which is not there` } };
  }
  if (reading.kind === 'closed') return refuse(`names the secret ${name}, which ${reading.reason}`);
  if (reading.use !== 'cluster') {
    return refuse(`names the secret ${name}, which is for ${reading.use} and not for a cluster`);
  }
  const credential = credentialOf(path, reading);
  const fault = naming.address && (addressFault(credential, naming.address) ?? headerFault(credential));
  return fault ? { kind: 'refused', fault } : { kind: 'given', credential };
}

const credentialOf = (path: Naming['path'], { name, value, bindings, version }: OpenSecret): BoundCredential => ({
  ...(path === 'authSecret' ? { token: value } : { kubeconfig: value }),
  path,
  name,
  origins: bindings,
  version,
});

function headerFault({ path, name, token = '' }: BoundCredential): FieldError | undefined {
  if (path === 'kubeconfigSecret' || /^[\x21-\x7e]+$/.test(token)) return undefined;
  return { path, message: `names the secret ${name}, which is no token: it holds more than visible ASCII` };
}
