import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { compareReleases } from './releases.js';

/** The oldest server that this version was tried with. */
const OLDEST_SERVER = '1.29.0';

/** A variable that is set to nothing is not set. */
const text = z
  .string()
  .optional()
  .transform((value) => value || undefined);
const flag = text.pipe(z.enum(['0', '1', 'true', 'false']).optional());

/** How to reach Temporal, by the names that its own tools read. */
export const TEMPORAL_ENV = {
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_API_KEY: text,
  TEMPORAL_TLS: flag,
  TEMPORAL_TLS_SERVER_NAME: text,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: text,
  TEMPORAL_TLS_SERVER_CA_CERT_DATA: text,
  TEMPORAL_TLS_CLIENT_CERT_PATH: text,
  TEMPORAL_TLS_CLIENT_CERT_DATA: text,
  TEMPORAL_TLS_CLIENT_KEY_PATH: text,
  TEMPORAL_TLS_CLIENT_KEY_DATA: text,
  TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: flag,
};

const TemporalEnv = z.object(TEMPORAL_ENV);
export type TemporalEnv = z.infer<typeof TemporalEnv>;

export const readTemporalEnv = (source: NodeJS.ProcessEnv = process.env): TemporalEnv => TemporalEnv.parse(source);

export interface TemporalConnection {
  address: string;
  apiKey?: string;
  tls?: {
    serverNameOverride?: string;
    serverRootCACertificate?: Buffer;
    clientCertPair?: { crt: Buffer; key: Buffer };
  };
}

/** Options of a connection. As in Temporal's own tools, an API key or any detail of TLS turns TLS on. */
export function temporalConnection(env: TemporalEnv): TemporalConnection {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey } = env;
  if (isOn(env.TEMPORAL_TLS_DISABLE_HOST_VERIFICATION)) {
    throw new Error(
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not supported: give the CA of the server in ' +
        'TEMPORAL_TLS_SERVER_CA_CERT_PATH and its name in TEMPORAL_TLS_SERVER_NAME',
    );
  }
  const ca = fileOrData(env, 'SERVER_CA_CERT');
  const crt = fileOrData(env, 'CLIENT_CERT');
  const key = fileOrData(env, 'CLIENT_KEY');
  if (!crt !== !key) {
    const [given, missing] = crt ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
    throw new Error(`TEMPORAL_TLS_CLIENT_${given}_* is set without TEMPORAL_TLS_CLIENT_${missing}_*`);
  }
  const serverName = env.TEMPORAL_TLS_SERVER_NAME;
  const isTls = env.TEMPORAL_TLS ? isOn(env.TEMPORAL_TLS) : Boolean(apiKey || ca || crt || serverName);
  const tls = {
    ...(serverName && { serverNameOverride: serverName }),
    ...(ca && { serverRootCACertificate: ca }),
    ...(crt && key && { clientCertPair: { crt, key } }),
  };
  return { address, ...(apiKey && { apiKey }), ...(isTls && { tls }) };
}

/** Waiting does not mend it. */
export class OldTemporalError extends Error {}

/** Refuses a server that lacks what our workflows need. One that does not say its version is taken as it is. */
export function refuseOldTemporal(serverVersion: string, address: string): void {
  if (!/^\d+\.\d+/.test(serverVersion) || compareReleases(serverVersion, OLDEST_SERVER) >= 0) return;
  throw new OldTemporalError(
    `the Temporal server at ${address} is version ${serverVersion}, and ${OLDEST_SERVER} or newer is needed: upgrade ` +
      'it, or set TEMPORAL_ADDRESS to another',
  );
}

const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';

function fileOrData(env: TemporalEnv, what: 'SERVER_CA_CERT' | 'CLIENT_CERT' | 'CLIENT_KEY'): Buffer | undefined {
  const file = env[`TEMPORAL_TLS_${what}_PATH`];
  const data = env[`TEMPORAL_TLS_${what}_DATA`];
  if (file && data) throw new Error(`TEMPORAL_TLS_${what}_PATH and TEMPORAL_TLS_${what}_DATA exclude each other`);
  if (data) return Buffer.from(data);
  if (!file) return undefined;
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`TEMPORAL_TLS_${what}_PATH: ${file} cannot be read`, { cause });
  }
}
