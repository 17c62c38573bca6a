import fc from 'fast-check';
import { ClusterFailure } from '../cluster-client.js';
import { parseKubeconfig } from './kubeconfig.js';

const CLUSTER = { server: 'https://kube.example.test:6443' };

/** A kubeconfig as `kubectl config view --raw --minify` prints it. JSON is YAML, too. */
const config = (cluster: object = CLUSTER, user: object = { token: 'canary-token' }, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'evals' } }],
    users: [{ name: 'u', user }],
    'current-context': 'x',
    ...more,
  });

function refusal(text: string, allowHost = false): string {
  try {
    parseKubeconfig(text, { allowHost });
  } catch (error) {
    expect(error).toBeInstanceOf(ClusterFailure);
    expect(error).toMatchObject({ reason: 'refused' });
    return (error as ClusterFailure).message;
  }
  throw new Error('it was taken');
}

test('gives the cluster, the user and the namespace of its one context', () => {
  const yaml = `
apiVersion: v1
kind: Config
current-context: x
preferences: {}
clusters:
  - name: c
    cluster: {server: "https://kube.example.test:6443", tls-server-name: kube, insecure-skip-tls-verify: false}
contexts:
  - name: x
    context: {cluster: c, user: u}
users:
  - name: u
    user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}
`;
  expect(parseKubeconfig(config(), { allowHost: false })).toEqual({
    cluster: CLUSTER,
    user: { token: 'canary-token' },
    namespace: 'evals',
  });
  expect(parseKubeconfig(yaml, { allowHost: false })).toMatchObject({
    cluster: { 'tls-server-name': 'kube' },
    namespace: undefined,
  });
});

const HOST = /needs a program or file of the platform's host/;
test.each([
  ['a plugin that runs a command', config(CLUSTER, { exec: { command: 'aws' } }), 'users[0].user.exec', HOST],
  [
    'an auth provider',
    config(CLUSTER, { 'auth-provider': { name: 'azure', config: { 'cmd-path': '/bin/sh' } } }),
    'users[0].user.auth-provider',
    HOST,
  ],
  ['a token file', config(CLUSTER, { tokenFile: '/etc/passwd' }), 'users[0].user.tokenFile', HOST],
  ['a certificate file', config(CLUSTER, { 'client-certificate': '/a' }), 'users[0].user.client-certificate', HOST],
  ['a key file', config(CLUSTER, { token: 't', 'client-key': '/a' }), 'users[0].user.client-key', HOST],
  [
    'a file of authorities',
    config({ ...CLUSTER, 'certificate-authority': '/etc/shadow' }),
    'clusters[0].cluster.certificate-authority',
    HOST,
  ],
])('%s is refused, unless the operator opened the host', (_what, text, field, message) => {
  expect(refusal(text)).toContain(`\`${field}\` `);
  expect(refusal(text)).toMatch(message);
  expect(() => parseKubeconfig(text, { allowHost: true })).not.toThrow();
});

const server = (url: string) => config({ server: url });
const twice = <Value>(value: Value): Value[] => [value, value];
test.each([
  ['a proxy', config({ ...CLUSTER, 'proxy-url': 'http://127.0.0.1:1' }), 'proxy-url` is not supported'],
  ['no verification', config({ ...CLUSTER, 'insecure-skip-tls-verify': true }), 'insecure-skip-tls-verify` would give'],
  ['another server behind a mark', server('https://good.example#@evil.example'), 'cluster.server` holds user'],
  ['a name and password in the server', server('https://u:canary@kube.example'), 'cluster.server` holds user'],
  ['a fragment', server('https://kube.example/#x'), 'cluster.server` is more than an address'],
  ['a backslash', server('https://kube.example\\evil.example'), 'cluster.server` is more than an address'],
  ['a unix socket', server('unix:///run/kube.sock'), 'cluster.server` is not an https URL'],
  ['a file', server('file:///etc/passwd'), 'cluster.server` is not an https URL'],
  ['no server', config({}), 'cluster.server` is required'],
  ['impersonation', config(CLUSTER, { token: 't', as: 'admin' }), 'users[0].user.as` is not supported'],
  ['no credential', config(CLUSTER, {}), 'users[0].user` holds no credential'],
  ['a certificate without key', config(CLUSTER, { 'client-certificate-data': 'YQ==' }), 'client-key-data` is required'],
  ['a key without certificate', config(CLUSTER, { token: 't', 'client-key-data': 'YQ==' }), 'client-certificate-data`'],
  ['an unknown key', config({ ...CLUSTER, 'proxy-uri': 'x' }), 'clusters[0].cluster.proxy-uri` is not a known key'],
  [
    'several contexts',
    config(CLUSTER, { token: 't' }, { contexts: twice({ name: 'x', context: { cluster: 'c', user: 'u' } }) }),
    'contexts` does not hold exactly one context: print the one that is meant with `kubectl config view',
  ],
  [
    'several users',
    config(CLUSTER, { token: 't' }, { users: twice({ name: 'u', user: { token: 'canary' } }) }),
    'users` does not hold exactly one user',
  ],
  ['another current context', config(CLUSTER, { token: 't' }, { 'current-context': 'y' }), 'current-context` is not'],
  ['no current context', config(CLUSTER, { token: 't' }, { 'current-context': undefined }), 'current-context` is'],
  ['another kind', config(CLUSTER, { token: 't' }, { kind: 'Secret' }), '`kind` '],
  ['a bare token', 'canary-token', 'it expected object'],
  ['nothing', '', 'it is not one plain YAML document'],
  ['broken YAML', 'a: [canary-token', 'it is not one plain YAML document without aliases (line 1)'],
  ['two documents', `${config()}\n---\n${config()}`, 'it is not one plain YAML document'],
  ['the same key twice', 'a: 1\na: canary', 'it is not one plain YAML document without aliases (line 2)'],
  ['an alias', 'a: &a {}\nb: *a', 'it is not one plain YAML document without aliases (line 2)'],
  ['deep nesting', '['.repeat(100_000), 'it is not one plain YAML document'],
  ['a long list of nothing', `[${','.repeat(200_000)}]`, 'it is not one plain YAML document'],
  ['a tag of a language', 'a: !!js/function "canary"', 'it is not one plain YAML document'],
  ['too much', `# ${'x'.repeat(300 * 1024)}\n${config()}`, 'it has 301 KB, more than the allowed 256'],
])('%s is refused, naming the field and no value', (_what, text, message) => {
  expect(refusal(text)).toContain(message);
  expect(refusal(text, true)).not.toContain('canary');
});

test('the first faults of many are named, and the others counted', () => {
  const user = { exec: {}, tokenFile: '/a', 'client-key': '/b', as: 'root' };
  expect(refusal(config({ ...CLUSTER, 'proxy-url': 'x' }, user))).toMatch(/; and \d more$/);
});

test('whatever is stored is taken or refused, and never breaks anything', () => {
  const key = fc.constantFrom('server', 'exec', 'token', 'name', 'cluster', 'user', '__proto__', 'constructor', 'x');
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree')),
      fc.dictionary(key, tie('tree')),
    ),
  }));
  const clean = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof ClusterFailure)) throw error;
      expect(error.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  };
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        tree.map((given) => JSON.stringify(given)),
        fc.tuple(tree, tree).map(([a, b]) => config(Object(a), Object(b))),
      ),
      (text) => {
        clean(() => parseKubeconfig(text, { allowHost: false }));
      },
    ),
  );
  expect(Reflect.get({}, 'server')).toBeUndefined();
});
