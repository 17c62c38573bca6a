import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import { parseAllowList } from '../../policy/addresses.js';
import type { BoundCredential } from '../../secrets/cluster-credential.js';
import { aK8sRuntime } from '../../test/builders.js';
import { ClusterHttp } from '../cluster-http.js';
import { Egress } from '../egress/guard.js';
import { type K8sPolicy, openAccess } from './k8s.access.js';

const SERVER = 'https://kube.example.test:6443';
const OPEN = { allowAmbient: true, allowHost: true };
const CLOSED = { allowAmbient: false, allowHost: false };
const { ca, client } = makeCertificates();
const dir = mkdtempSync(path.join(tmpdir(), 'everdict-access-'));
const { KUBECONFIG: given } = process.env;
afterAll(() => {
  if (given === undefined) delete process.env.KUBECONFIG;
  else process.env.KUBECONFIG = given;
  rmSync(dir, { recursive: true });
});

const file = (name: string, content: string): string => {
  const place = path.join(dir, name);
  writeFileSync(place, content, { mode: 0o600 });
  return place;
};
const kubeconfig = (user: object, cluster: object = {}) =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: SERVER, ...cluster } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'of-the-file' } }],
    users: [{ name: 'u', user }],
    'current-context': 'x',
  });

function open(spec: object, credential: Partial<BoundCredential> | undefined, policy: K8sPolicy = CLOSED) {
  const runtime = aK8sRuntime({ server: undefined, authSecret: undefined, context: undefined, ...spec });
  if (runtime.kind !== 'k8s') throw new Error('the builder makes another kind');
  const bound = { name: 'kube', path: 'kubeconfigSecret' as const, origins: [SERVER], version: 1, ...credential };
  return openAccess(runtime, credential && bound, policy);
}
const byFile = (value: string, policy: K8sPolicy = CLOSED) =>
  open({ kubeconfigSecret: 'kube' }, { kubeconfig: value }, policy);

test('the first credential counts, and is never made up for by the next one', async () => {
  const all = { kubeconfigSecret: 'kube', server: SERVER, authSecret: 'token', context: 'x' };
  const access = await open(all, { kubeconfig: kubeconfig({ token: 'of-the-file' }) }, OPEN);
  expect(access).toMatchObject({ authorization: 'Bearer of-the-file', namespace: 'of-the-file' });
  await expect(open(all, undefined, OPEN)).rejects.toThrow(/^`kubeconfigSecret` names the secret kube, which is not/);
  await expect(open(all, { path: 'authSecret', token: 't' }, OPEN)).rejects.toThrow(/^`kubeconfigSecret`/);
  const { kubeconfigSecret: _none, ...rest } = all;
  const token = { path: 'authSecret' as const, token: 'of-the-secret' };
  expect(await open({ ...rest, namespace: 'mine' }, token, OPEN)).toMatchObject({
    authorization: 'Bearer of-the-secret',
    namespace: 'mine',
  });
});

test('a kubeconfig goes to the origins of its secret only, however its server is written', async () => {
  const at = (server: string) => kubeconfig({ token: 't' }, { server });
  await expect(byFile(at('https://KUBE.example.test.:6443/k8s/clusters/a'))).resolves.toBeDefined();
  await expect(byFile(at('https://kube.example.test'))).rejects.toThrow(/may be sent to https:.*6443 only/);
  await expect(byFile(at('http://kube.example.test:6443'))).rejects.toThrow(/only/);
});

test('a client certificate that TLS does not take is refused before a connection', async () => {
  const newKey = [
    'req',
    '-x509',
    '-newkey',
    'rsa:512',
    '-nodes',
    '-subj',
    '/CN=weak',
    '-out',
    'weak.pem',
    '-keyout',
    'weak.key',
  ];
  execFileSync('openssl', newKey, { cwd: dir, stdio: 'ignore' });
  const [cert = '', key = ''] = ['weak.pem', 'weak.key'].map((name) => readFileSync(path.join(dir, name), 'utf8'));
  const user = { 'client-certificate-data': btoa(cert), 'client-key-data': btoa(key) };
  await expect(byFile(kubeconfig(user))).rejects.toThrow(
    '`kubeconfigSecret` holds a client certificate that is too weak',
  );

  const limits = { connections: 1, connectTimeoutMs: 1_000, silenceMs: 1_000 };
  const dispatcher = new Egress(parseAllowList('127.0.0.0/8').rules).dispatcher({ tls: { cert, key }, ...limits });
  const http = new ClusterHttp(new URL('https://127.0.0.1:9'), dispatcher);
  await expect(http.call('GET', '/', { signal: AbortSignal.timeout(5_000) })).rejects.toThrow('the connection failed');
});

describe('where the operator opened the host', () => {
  const exec = (script: string) => ({ exec: { command: process.execPath, args: ['-e', script] } });
  const prints = (status: object) => exec(`console.log(JSON.stringify(${JSON.stringify({ status })}))`);

  test('programs and files give the credential', async () => {
    expect(await byFile(kubeconfig(prints({ token: 'made' })), OPEN)).toMatchObject({ authorization: 'Bearer made' });
    const tokenFile = file('token', 'read\n');
    expect(await byFile(kubeconfig({ tokenFile }), OPEN)).toMatchObject({ authorization: 'Bearer read' });
    const files = { 'client-certificate': file('cert', client.cert), 'client-key': file('key', client.key) };
    const cluster = { 'certificate-authority': file('ca', ca), 'tls-server-name': 'kube' };
    expect(await byFile(kubeconfig(files, cluster), OPEN)).toMatchObject({ ...client, ca, servername: 'kube' });
  });

  test('no program runs for an address that the secret is not for', async () => {
    const ran = path.join(dir, 'ran');
    const user = exec(`require('fs').writeFileSync(${JSON.stringify(ran)}, '')`);
    await expect(byFile(kubeconfig(user, { server: 'https://evil.example.test' }), OPEN)).rejects.toThrow(/ only, /);
    expect(existsSync(ran)).toBe(false);
  });

  test('what they do not give is a refusal without a word of theirs', async () => {
    const failing = 'console.error("canary"); console.log("canary"); process.exit(1)';
    for (const user of [exec(failing), { tokenFile: path.join(dir, 'canary') }, exec('console.log("canary")')]) {
      const opening = byFile(kubeconfig(user), OPEN);
      await expect(opening).rejects.toMatchObject({
        reason: 'refused',
        message: expect.not.stringContaining('canary'),
      });
    }
  });
});

describe('the platform’s own kubeconfig', () => {
  const ambient = (user: object, cluster: object = {}, policy: K8sPolicy = OPEN, context = 'x') => {
    process.env.KUBECONFIG = file('config', kubeconfig(user, cluster));
    return open({ context }, undefined, policy);
  };

  test('is used by the name of a context, where the operator allows that', async () => {
    const access = { authorization: 'Bearer t', namespace: 'of-the-file', server: new URL(SERVER) };
    expect(await ambient({ token: 't' })).toMatchObject(access);
    await expect(ambient({ token: 't' }, {}, CLOSED)).rejects.toThrow(/which its operator has not opened/);
    await expect(ambient({ token: 't' }, {}, OPEN, 'y')).rejects.toThrow('`context` is not one of the platform');
  });

  test.each([
    ['a proxy', { token: 't' }, { 'proxy-url': 'http://127.0.0.1:1' }, 'proxy-url'],
    ['no verification', { token: 't' }, { 'insecure-skip-tls-verify': true }, 'insecure-skip-tls-verify'],
    ['another account', { token: 't', as: 'admin' }, {}, 'as'],
  ])('%s in it is not supported', async (_what, user, cluster, field) => {
    await expect(ambient(user, cluster)).rejects.toThrow(`with ${field}, which is not supported`);
  });

  test('is refused where it cannot be read', async () => {
    process.env.KUBECONFIG = path.join(dir, 'nowhere');
    await expect(open({ context: 'x' }, undefined, OPEN)).rejects.toThrow('kubeconfig cannot be read');
  });
});
