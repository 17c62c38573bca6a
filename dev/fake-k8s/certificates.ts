import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** PEM, each. */
export interface Certificates {
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** A private certificate authority for some days, and what it has signed: a server, a client. Made by `openssl`. */
export function makeCertificates({ name = 'localhost', client = 'dispatcher', days = 1 } = {}): Certificates {
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-certificates-'));
  const read = (file: string): string => readFileSync(path.join(dir, file), 'utf8');
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { cwd: dir, stdio: 'ignore' });
  };
  const issue = (file: string, subject: string): { cert: string; key: string } => {
    openssl('req', ...NEW_KEY, '-subj', `/CN=${subject}`, '-keyout', `${file}.key`, '-out', `${file}.csr`);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', String(days), '-extfile', 'names'];
    openssl('x509', '-req', '-in', `${file}.csr`, ...signed, '-out', `${file}.pem`);
    return { cert: read(`${file}.pem`), key: read(`${file}.key`) };
  };
  try {
    openssl(
      'req',
      '-x509',
      ...NEW_KEY,
      '-subj',
      '/CN=fake-k8s',
      '-days',
      String(days),
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
    );
    writeFileSync(path.join(dir, 'names'), `subjectAltName=IP:127.0.0.1,DNS:${name}`);
    return { ca: read('ca.pem'), server: issue('server', name), client: issue('client', client) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
