const DEFAULT_PORT: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Scheme, host and port of an http(s) address in the one form that is compared: lower case, IDN as punycode, numeric
 * addresses in dotted form, no dot at the end of the host, the port always there. Absent for what is no such address,
 * or has user information, which makes the host easy to misread.
 */
export function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, username, password, hostname, port } = new URL(address);
  const defaultPort = DEFAULT_PORT[protocol];
  if (defaultPort === undefined || username !== '' || password !== '') return undefined;
  const host = hostname.replace(/\.$/, '');
  return host === '' ? undefined : `${protocol}//${host}:${port || defaultPort}`;
}

/** Host and port of `host[:port]` in the form that is compared; without a port the one of https. */
export function hostOf(host: string): string | undefined {
  return /^[^/?#@\\\s]+$/.test(host) ? originOf(`https://${host}`)?.slice('https://'.length) : undefined;
}

/** Host and port of an http(s) address. */
export const hostOfUrl = (address: string): string | undefined => originOf(address)?.replace(/^https?:\/\//, '');

/** Whether an address is one of those that a secret may be sent to. */
export function isBoundTo(origins: readonly string[], address: string): boolean {
  const wanted = originOf(address);
  return wanted !== undefined && origins.some((origin) => originOf(origin) === wanted);
}
