import { isIPv4 } from 'node:net';

/** Whether a host name or address, without its port, is this machine's own. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  if (name === 'localhost' || name === '::1' || name === '[::1]') return true;
  return isIPv4(name) && name.startsWith('127.');
}

/** Whether a `Host` header names this machine. A web page that rebinds its own name to 127.0.0.1 still sends that name. */
export function isLoopbackHost(header: string | undefined): boolean {
  const match = /^(\[[0-9a-f:]+\]|[^:[\]/@]+)(:\d{1,5})?$/i.exec(header ?? '');
  return match?.[1] !== undefined && isLoopback(match[1]);
}

/** Whether a request comes from a page of ours, or from no page at all: browsers name every other origin, or say `null`. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || /^https?:\/\/(.*)$/.exec(origin.toLowerCase())?.[1] === (host?.toLowerCase() ?? '');
}
