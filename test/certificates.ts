import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A self-signed certificate, which is its own authority. `names` as OpenSSL writes them: `DNS:a.test,IP:127.0.0.1`. */
export function selfSigned(names: string, { expired = false } = {}): { key: string; cert: string } {
  const dir = mkdtempSync(path.join(tmpdir(), 'everdict-cert-'));
  const openssl = (...words: string[]): void => {
    const { status, stderr } = spawnSync('openssl', words, { cwd: dir, encoding: 'utf8', timeout: 10_000 });
    if (status !== 0) throw new Error(`openssl ${words[0]} failed: ${stderr}`);
  };
  try {
    writeFileSync(path.join(dir, 'names'), `subjectAltName=${names}`);
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl('req', ...kind, '-subj', '/CN=test', '-keyout', 'key', '-out', 'request');
    const days = expired ? '-1' : '1';
    openssl('x509', '-req', '-in', 'request', '-signkey', 'key', '-days', days, '-extfile', 'names', '-out', 'cert');
    return { key: readFileSync(path.join(dir, 'key'), 'utf8'), cert: readFileSync(path.join(dir, 'cert'), 'utf8') };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
