import { errors } from 'undici';
import { PlatformError } from '../contracts/errors.js';
import { ClusterFailure } from './cluster-client.js';

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ECONNRESET: 'it took the connection and cut it (ECONNRESET): it may be another service',
  EPIPE: 'it took the connection and cut it (EPIPE): it may be another service',
  UND_ERR_SOCKET: 'it took the connection and ended it without an answer: it may be another service',
  ENOTFOUND: 'the name is not known (ENOTFOUND)',
  EAI_AGAIN: 'the name cannot be looked up now (EAI_AGAIN)',
  EHOSTUNREACH: 'there is no way to it (EHOSTUNREACH)',
  ENETUNREACH: 'there is no way to it (ENETUNREACH)',
  ETIMEDOUT: 'it took no connection in time (ETIMEDOUT)',
  UND_ERR_CONNECT_TIMEOUT: 'it took no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'it took the connection and did not answer in time',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'its answer is longer than is read',
  UND_ERR_BODY_TIMEOUT: 'it stopped in the middle of an answer',
};

const CERTIFICATE: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: give `caCert`',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of a private authority: give `caCert`',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an authority that is not known: give `caCert`',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is of an authority that is not known: give `caCert`',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that is not known: give `caCert`',
  CERT_SIGNATURE_FAILURE: 'its certificate is not of the authority in `caCert`',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is of another name',
};

/** The same of all that `caCert` settles, where an authority is given. */
const OTHER_AUTHORITY =
  'its certificate is not of the authority that is given: `caCert`, or that of the kubeconfig, is of another cluster';

/** What answers is not known to be the cluster that is meant. */
export class UnknownAuthority extends ClusterFailure {}

/** These are mended on the cluster, and those by who describes it. */
const OF_ITS_TIME: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/** Why there was no answer, in our words. `hasCa`: it had to be a cluster of an authority that is given. */
export function networkFailure(error: unknown, signal?: AbortSignal, hasCa = false): ClusterFailure {
  if (error instanceof ClusterFailure) return error;
  const cause = { cause: error };
  if (error instanceof PlatformError && error.code === 'ADDRESS_REFUSED') {
    return new ClusterFailure('refused', error.message, cause);
  }
  if (signal?.aborted) return new ClusterFailure('unreachable', 'it did not answer in time', cause);
  const code = codeOf(error);
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) {
    const Failure = OF_ITS_TIME.has(code) ? ClusterFailure : UnknownAuthority;
    const text = hasCa && certificate.includes('`caCert`') ? OTHER_AUTHORITY : certificate;
    return new Failure('error', `${text} (${code})`, cause);
  }
  const network = NETWORK[code];
  if (network !== undefined) return new ClusterFailure('unreachable', network, cause);
  if (/^(EPROTO$|ERR_SSL_|ERR_TLS_)/.test(code)) return new ClusterFailure('error', tlsText(code), cause);
  if (error instanceof errors.HTTPParserError || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ClusterFailure('error', 'it answers, and not in HTTP: it is another service', cause);
  }
  return new ClusterFailure('unreachable', `the connection failed${code && ` (${code})`}`, cause);
}

const tlsText = (code: string): string =>
  code.includes('ALERT')
    ? `it ended the TLS handshake (${code})`
    : `it does not speak TLS, as https:// needs (${code})`;

/** Of the error, or of the first address that failed. */
function codeOf(error: unknown): string {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code: unknown = typeof inner === 'object' && inner !== null ? Reflect.get(inner, 'code') : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code) ? code : '';
}

/** Where a job is begun, it is the spec that names another cluster, or not how this one is known. */
export const asRefused = (error: unknown): unknown =>
  error instanceof UnknownAuthority ? new ClusterFailure('refused', error.message, { cause: error }) : error;

/** Where a redirect leads, as far as its origin. */
export function redirectFailure(location: unknown, from: URL): ClusterFailure {
  const target = typeof location === 'string' ? location : '';
  const origin = target !== '' && URL.canParse(target, from.href) ? new URL(target, from).origin : 'null';
  return new ClusterFailure(
    'error',
    `unexpected redirect to ${origin === 'null' ? 'no address' : origin.slice(0, 200)}`,
  );
}
