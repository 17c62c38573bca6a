import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Certificates, makeCertificates } from './certificates.js';

export interface Keys {
  certificates: Certificates;
  /** Of one who may do everything. */
  token: string;
}

const DAYS = 3_650;

/** Those of an earlier start in the same directory, so that what was registered with them goes on to work. */
export function keptKeys(dir: string): Keys {
  const file = path.join(dir, 'keys.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Keys;
  const keys = { certificates: makeCertificates({ days: DAYS }), token: randomUUID() };
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, JSON.stringify(keys), { mode: 0o600 });
  writeFileSync(path.join(dir, 'ca.pem'), keys.certificates.ca);
  writeFileSync(path.join(dir, 'token'), keys.token, { mode: 0o600 });
  return keys;
}

/** For a `kubeconfigSecret`, and for `kubectl get --raw`. */
export function writeKubeconfig(dir: string, server: string, { certificates, token }: Keys): string {
  const file = path.join(dir, 'kubeconfig');
  const ca = Buffer.from(certificates.ca).toString('base64');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'fake' },
    clusters: [{ name: 'fake', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'fake', user: { token } }],
    contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake', namespace: 'default' } }],
  };
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return file;
}
