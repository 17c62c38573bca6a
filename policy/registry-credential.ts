import { hostOf } from './origins.js';

/** Names under which the registry of images without a host is known. */
const DEFAULT_REGISTRY = 'docker.io';
const DEFAULT_ALIASES: ReadonlySet<string> = new Set(['index.docker.io', 'registry-1.docker.io', DEFAULT_REGISTRY]);

const canonical = (host: string | undefined): string | undefined =>
  host !== undefined && DEFAULT_ALIASES.has(host) ? DEFAULT_REGISTRY : host;

/**
 * The registry that an image comes from. As for every container engine, the part before the first slash is a host if it
 * has a dot or a port, or is `localhost`.
 */
export function registryOf(image: string): string | undefined {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return isHost ? canonical(hostOf(first)) : DEFAULT_REGISTRY;
}

/** The secret for the registry of an image: the first whose hosts name it. What matches nothing is sent nowhere. */
export function registrySecretFor<Secret extends { bindings: readonly string[] }>(
  image: string,
  secrets: readonly Secret[],
): Secret | undefined {
  const registry = registryOf(image);
  if (registry === undefined) return undefined;
  return secrets.find(({ bindings }) => bindings.some((host) => canonical(hostOf(host)) === registry));
}
