import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readEnv } from './env.js';
import { OldTemporalError, refuseOldTemporal, temporalConnection } from './temporal.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-tls-'));
const pem = path.join(dir, 'ca.pem');
writeFileSync(pem, 'CA');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const connection = (env: Record<string, string>) =>
  temporalConnection(readEnv({ DATABASE_URL: 'postgres://here', TEMPORAL_ADDRESS: 'there:7233', ...env }));

test.each<[string, Record<string, string>, object]>([
  ['nothing', {}, {}],
  ['variables that are set to nothing', { TEMPORAL_API_KEY: '', TEMPORAL_TLS: '', TEMPORAL_TLS_SERVER_NAME: '' }, {}],
  ['TLS alone', { TEMPORAL_TLS: 'true' }, { tls: {} }],
  ['an API key, which turns TLS on', { TEMPORAL_API_KEY: 'k' }, { apiKey: 'k', tls: {} }],
  ['an API key without TLS', { TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' }, { apiKey: 'k' }],
  [
    'a CA in a file and a server name',
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: pem, TEMPORAL_TLS_SERVER_NAME: 'temporal.example' },
    { tls: { serverRootCACertificate: Buffer.from('CA'), serverNameOverride: 'temporal.example' } },
  ],
  [
    'a client certificate as data',
    { TEMPORAL_TLS_CLIENT_CERT_DATA: 'C', TEMPORAL_TLS_CLIENT_KEY_DATA: 'K' },
    { tls: { clientCertPair: { crt: Buffer.from('C'), key: Buffer.from('K') } } },
  ],
])('connects with %s', (_title, env, options) => {
  expect(connection(env)).toEqual({ address: 'there:7233', ...options });
});

test.each<[string, Record<string, string>, string]>([
  [
    'a key without its certificate',
    { TEMPORAL_TLS_CLIENT_KEY_DATA: 'K' },
    'CLIENT_KEY_* is set without TEMPORAL_TLS_CLIENT_CERT_*',
  ],
  [
    'a file that is not there',
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/no/ca.pem' },
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH: /no/ca.pem',
  ],
  [
    'a file and data at once',
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: pem, TEMPORAL_TLS_SERVER_CA_CERT_DATA: 'CA' },
    'exclude each other',
  ],
  ['trust in any server', { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: '1' }, 'is not supported'],
  ['a flag that is none', { TEMPORAL_TLS: 'maybe' }, 'TEMPORAL_TLS'],
])('refuses %s and names it', (_title, env, part) => {
  expect(() => connection(env)).toThrow(part);
});

test.each(['1.29.0', '1.32.0', '2.0.0', '1.29.1-rc.1', '', 'dev'])(
  'server %j is new enough, or does not say',
  (version) => {
    expect(() => refuseOldTemporal(version, 'there:7233')).not.toThrow();
  },
);

test.each(['1.28.9', '0.30.0'])('server %s is refused with both versions and its address', (version) => {
  const refuse = () => refuseOldTemporal(version, 'there:7233');
  expect(refuse).toThrow(OldTemporalError);
  expect(refuse).toThrow(`at there:7233 is version ${version}, and 1.29.0 or newer is needed`);
});
