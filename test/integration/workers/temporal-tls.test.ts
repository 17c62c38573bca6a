import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer, type Server } from 'node:tls';
import { NativeConnection } from '@temporalio/worker';
import { readEnv } from '../../../config/env.js';
import { temporalConnection } from '../../../config/temporal.js';
import { connectClient, requireServer } from '../../../workers/temporal-boot.js';
import { installRuntime, sharedTemporal } from '../../temporal.js';

const dir = mkdtempSync(path.join(tmpdir(), 'everdict-tls-'));
const file = (name: string): string => path.join(dir, name);
const openssl = (...words: string[]): void => {
  expect(spawnSync('openssl', words, { cwd: dir, encoding: 'utf8' })).toMatchObject({ status: 0 });
};

/** A CA, and what it has signed for the server and for us. */
function makeCertificates(): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-subj', '/CN=ca', '-days', '1', '-keyout', 'ca.key', '-out', 'ca.pem');
  writeFileSync(file('names'), 'subjectAltName=DNS:temporal.example');
  for (const name of ['server', 'client']) {
    openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '1', '-extfile', 'names'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...signed, '-out', `${name}.pem`);
  }
}

let proxy: Server;
let env: Record<string, string>;
beforeAll(async () => {
  installRuntime();
  makeCertificates();
  const { address } = await sharedTemporal();
  const port = Number(address.split(':')[1]);
  const options = {
    key: readFileSync(file('server.key')),
    cert: readFileSync(file('server.pem')),
    ca: readFileSync(file('ca.pem')),
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: ['h2'],
  };
  proxy = createServer(options, (socket) => {
    const upstream = connect(port, '127.0.0.1');
    for (const each of [socket, upstream]) each.on('error', () => undefined);
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const listening = proxy.address();
  env = {
    DATABASE_URL: 'postgres://unused',
    TEMPORAL_ADDRESS: `127.0.0.1:${listening && typeof listening !== 'string' ? listening.port : 0}`,
    TEMPORAL_TLS_SERVER_NAME: 'temporal.example',
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('ca.pem'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: file('client.pem'),
    TEMPORAL_TLS_CLIENT_KEY_DATA: readFileSync(file('client.key'), 'utf8'),
  };
}, 120_000);
afterAll(() => {
  proxy.close();
  rmSync(dir, { recursive: true, force: true });
});

test('client and worker reach a server behind mutual TLS with the names of Temporal’s own tools', async () => {
  const options = temporalConnection(readEnv(env));
  const connection = await connectClient(options);
  await requireServer(connection, options.address);
  await connection.close();

  const native = await NativeConnection.connect(options);
  await native.close();
});

test('without the client certificate the server refuses', async () => {
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: _cert, TEMPORAL_TLS_CLIENT_KEY_DATA: _key, ...rest } = env;
  const connecting = connectClient(temporalConnection(readEnv(rest))).then((connection) => connection.close());
  await expect(connecting).rejects.toThrow();
});
