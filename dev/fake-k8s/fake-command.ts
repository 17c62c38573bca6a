import { existsSync, mkdirSync } from 'node:fs';
import { readDevEnv } from '../../config/dev-env.js';
import type { Container, Pod } from './fake-objects.js';
import { pathsOf, type SecretOf } from './fake-volumes.js';

/** Why a container cannot be made of its document yet. */
export class ConfigMissing extends Error {}

export interface Command {
  /** As its container knows it. */
  program: string;
  argv: [string, ...string[]];
  env: Record<string, string>;
  cwd: string;
}

interface Place {
  /** Where its volumes are. */
  volumes: string;
  /** Where it runs: containers have a file system of their own, and this is what they have of it here. */
  work: string;
  secretOf: SecretOf;
}

/** Of the service that every namespace sees. */
const API_ADDRESS = '10.96.0.1';
const OF_SERVICE = {
  KUBERNETES_SERVICE_HOST: API_ADDRESS,
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: `tcp://${API_ADDRESS}:443`,
  KUBERNETES_PORT_443_TCP: `tcp://${API_ADDRESS}:443`,
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: API_ADDRESS,
};

/** Whatever the image: programs are those of this machine. */
const { PATH } = readDevEnv();

/** What a container starts. Throws `ConfigMissing` while a secret or a key is not there. */
export function commandOf(pod: Pod, container: Container, { volumes, work, secretOf }: Place): Command {
  const { command = [], args = [], workingDir } = container;
  const real = pathsOf(volumes, container);
  const env = variables(pod, container, secretOf);
  const known = new Map(Object.entries(env));
  const [program, ...rest] = [...command, ...args].map((word) => expand(word, known));
  if (program === undefined) throw new ConfigMissing('the fake runs a container only where it is told a command');
  mkdirSync(work, { recursive: true });
  const wanted = workingDir === undefined ? work : real(expand(workingDir, known));
  const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, real(value)]));
  return {
    program,
    argv: [real(program), ...rest.map(real)],
    env: { PATH, HOME: '/', ...own },
    cwd: existsSync(wanted) ? wanted : work,
  };
}

function variables({ metadata }: Pod, { env = [] }: Container, secretOf: SecretOf): Record<string, string> {
  const known = new Map(Object.entries(OF_SERVICE));
  const own = new Map<string, string>();
  for (const { name, value, valueFrom } of env) {
    const found = valueFrom?.secretKeyRef ? ofSecret(metadata.namespace, valueFrom.secretKeyRef, secretOf) : value;
    if (found === undefined && valueFrom) continue;
    // A value of a secret is taken as it is.
    const text = valueFrom ? (found ?? '') : expand(found ?? '', known);
    known.set(name, text);
    own.set(name, text);
  }
  return { HOSTNAME: metadata.name, ...OF_SERVICE, ...Object.fromEntries(own) };
}

interface KeyRef {
  name: string;
  key: string;
  optional?: boolean;
}

function ofSecret(namespace = '', { name, key, optional }: KeyRef, secretOf: SecretOf): string | undefined {
  const secret = secretOf(name);
  const text = secret?.data?.[key];
  if (text !== undefined) return Buffer.from(text, 'base64').toString('utf8');
  if (optional) return undefined;
  throw new ConfigMissing(
    secret ? `couldn't find key ${key} in Secret ${namespace}/${name}` : `secret "${name}" not found`,
  );
}

/** `$(NAME)` where it is known, and `$$` for `$`; all else stays. */
export const expand = (text: string, known: ReadonlyMap<string, string>): string =>
  text.replace(/\$(?:\$|\(([^()]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (known.get(name) ?? whole),
  );
