import { promises as dns, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { PlatformError } from '../../contracts/errors.js';
import { type AllowRule, isAdmitted, literalAddresses } from '../../policy/addresses.js';
import { LookUps, type Resolve } from './look-ups.js';

/** The same for every refused address, whatever listens there. */
export const REFUSED_TEXT = 'the address is not one that this deployment connects to';

/** Of the whole process, whoever asks. */
const SYSTEM = new LookUps((name) => dns.lookup(name, { all: true }));

export interface DispatcherOptions {
  /** `ca`: PEM of a private certificate authority, in place of the public ones. `cert`, `key`: who we are. */
  tls?: { ca?: string; cert?: string; key?: string; servername?: string };
  /** At most so many connections to one origin. */
  connections: number;
  connectTimeoutMs: number;
  /** Headers, and each part of a body, arrive within so long of each other. */
  silenceMs: number;
  /** A longer body is an error; absent: any length. */
  mostBytes?: number;
}

/**
 * Every connection whose address a workspace chose is made by this: a name is looked up once, each of its addresses
 * must be admitted, and only those are dialled. A refused one costs no packet, so it tells nothing of what is there.
 */
export class Egress {
  constructor(
    private readonly allow: readonly AllowRule[],
    private readonly resolve: Resolve = (name) => SYSTEM.find(name),
  ) {}

  /** What may be dialled for a host, a name or an address with or without brackets. Throws `ADDRESS_REFUSED`. */
  async check(host: string, port: number): Promise<LookupAddress[]> {
    if (this.isRefused(host, port)) throw refusal();
    const bare = host.replace(/^\[|\]$/g, '');
    const [literal] = literalAddresses(bare) ?? [];
    if (literal === bare) return [{ address: bare, family: bare.includes(':') ? 6 : 4 }];
    const addresses = await this.resolve(bare);
    if (!addresses.every(({ address }) => isAdmitted(address, port, this.allow))) throw refusal();
    return addresses;
  }

  /** Whether a host is refused before any look-up: an address, or a name that stands for one. */
  isRefused(host: string, port: number): boolean {
    const literal = literalAddresses(host);
    return literal !== undefined && !literal.some((address) => isAdmitted(address, port, this.allow));
  }

  /** The same of the address that an http(s) URL says. */
  refusesUrl(url: string): boolean {
    const { hostname, port, protocol } = new URL(url);
    return this.isRefused(hostname, portOf(port, protocol));
  }

  /**
   * Checks and looks up for sockets to one port, in place of `dns.lookup`. A socket looks no literal address up: those
   * are for `check`, before.
   */
  lookup(port: number): LookupFunction {
    return (name, options, callback) => {
      this.check(name, port).then(
        (addresses) => answer(addresses, options.all === true, callback),
        (error: NodeJS.ErrnoException) => callback(error, [], 0),
      );
    };
  }

  /** Connections for undici. TLS and the Host header keep the name; redirects are for the caller to refuse. */
  dispatcher({ tls, connections, connectTimeoutMs, silenceMs, mostBytes }: DispatcherOptions): Agent {
    const connect: buildConnector.connector = (options, callback) => {
      const port = portOf(options.port, options.protocol);
      this.check(options.hostname, port).then(
        (addresses) => {
          const lookup: LookupFunction = (_name, { all }, done) => answer(addresses, all === true, done);
          // Said, since Node’s environment could turn it off.
          const dial = { timeout: connectTimeoutMs, lookup, ...tls, rejectUnauthorized: true };
          try {
            buildConnector(dial)(options, callback);
          } catch (error) {
            // What TLS does not take of ours, as a key that is too short.
            callback(error instanceof Error ? error : new Error(String(error)), null);
          }
        },
        (error: Error) => callback(error, null),
      );
    };
    return new Agent({
      ...{ connect, connections, pipelining: 1, headersTimeout: silenceMs, bodyTimeout: silenceMs },
      ...(mostBytes !== undefined && { maxResponseSize: mostBytes }),
    });
  }
}

const portOf = (port: string, protocol: string): number => Number(port) || (protocol === 'https:' ? 443 : 80);

const refusal = (): PlatformError => new PlatformError('ADDRESS_REFUSED', REFUSED_TEXT);

/** Gives a socket the addresses that were checked. */
function answer(addresses: LookupAddress[], all: boolean, callback: Parameters<LookupFunction>[2]): void {
  const [first] = addresses;
  if (!first) callback(Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' }), [], 0);
  else if (all) callback(null, addresses);
  else callback(null, first.address, first.family);
}
