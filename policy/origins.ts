/** A name or an address as `URL` writes it: no wildcard, which would look like a rule and match nothing. */
const HOST = /^([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])$/;
const DEFAULT_PORT: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Scheme, host and port of an http(s) address in the one form that is compared: lower case, IDN as punycode, numeric
 * addresses in dotted form, no dot at the end of the host, no port that the scheme has anyway. Absent for what is no such
 * address, or has user information, which makes the host easy to misread.
 */
export function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, username, password, hostname, port } = new URL(address);
  if (DEFAULT_PORT[protocol] === undefined || username !== '' || password !== '') return undefined;
  const host = hostname.replace(/\.$/, '');
  return HOST.test(host) ? `${protocol}//${host}${port && `:${port}`}` : undefined;
}

/** The origin that is all a text says. */
export function originAlone(text: string): string | undefined {
  const origin = originOf(text);
  if (origin === undefined) return undefined;
  const { pathname, search, hash } = new URL(text);
  return pathname === '/' && search === '' && hash === '' ? origin : undefined;
}

/** An address with its path, in the one form that is compared: proxies have several servers at one origin. */
export function serverForm(address: string): string | undefined {
  const origin = originOf(address);
  return origin && `${origin}${new URL(address).pathname.replace(/\/+$/, '')}`;
}

/** Host and port of `host[:port]` in the form that is compared; without a port the one of https. */
export const hostOf = (host: string): string | undefined =>
  /^[^/?#@\\\s]+$/.test(host) ? originOf(`https://${host}`)?.slice('https://'.length) : undefined;

/** Host and port of an http(s) address; http without a port is another place than https. */
export function hostOfUrl(address: string): string | undefined {
  const origin = originOf(address);
  if (origin === undefined) return undefined;
  const { protocol, host, port } = new URL(origin);
  if (protocol === 'https:') return host;
  return `${host}${port ? '' : `:${DEFAULT_PORT[protocol]}`}`;
}

/** Whether an address is one of those that a secret may be sent to. */
export function isBoundTo(origins: readonly string[], address: string): boolean {
  const wanted = originOf(address);
  return wanted !== undefined && origins.some((origin) => originOf(origin) === wanted);
}
