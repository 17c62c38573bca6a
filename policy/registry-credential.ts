import type { RegistryCredential } from './job-parts.js';
import { hostOf } from './origins.js';
import { passwordCredentialOf } from './password-credential.js';

/** Names under which the registry of images without a host is known. */
const DEFAULT_REGISTRY = 'docker.io';
const DEFAULT_ALIASES: ReadonlySet<string> = new Set(['index.docker.io', 'registry-1.docker.io', DEFAULT_REGISTRY]);

/** What registries that know tokens alone take for a user. */
const TOKEN_USER = 'token';

const canonical = (host: string | undefined): string | undefined =>
  host !== undefined && DEFAULT_ALIASES.has(host) ? DEFAULT_REGISTRY : host;

/**
 * The host of an image, as its name has it. As for every container engine, the part before the first slash is one if it
 * has a dot or a port, or is `localhost`.
 */
export function hostPartOf(image: string): string | undefined {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : undefined;
}

function registryOf(image: string): string | undefined {
  const host = hostPartOf(image);
  return host === undefined ? DEFAULT_REGISTRY : canonical(hostOf(host));
}

/** Every name of the registry that an image comes from, of which a secret's host must be one. */
export function registryHosts(image: string): string[] {
  const registry = registryOf(image);
  if (registry === undefined) return [];
  return registry === DEFAULT_REGISTRY ? [...DEFAULT_ALIASES] : [registry];
}

export const registryCredentialOf = (value: string): RegistryCredential => passwordCredentialOf(value, TOKEN_USER);
