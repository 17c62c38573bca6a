import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import type { Script } from '../../dev/fake-k8s/fake-k8s.js';
import { failure, forbidden } from '../../dev/fake-k8s/status.js';
import { parseAllowList } from '../../policy/addresses.js';
import { openK8sLab, TOKEN, USER } from '../../test/k8s-lab.js';
import { Egress } from '../egress/guard.js';
import { JOB_RIGHTS, REVIEWS, rightText } from './k8s.rights.js';

let lab: Awaited<ReturnType<typeof openK8sLab>>;
beforeAll(async () => {
  lab = await openK8sLab();
});
beforeEach(() => lab.reset());
afterAll(() => lab.fake.close());

test('says the version, the namespace and the account, and sends the token as it was stored', async () => {
  expect(await lab.probe({ spec: { namespace: 'evals' }, credential: { token: `${TOKEN}\n` } })).toEqual({
    reachable: true,
    detail: `Kubernetes v1.34.4, namespace evals, as ${USER}`,
  });
  expect(lab.fake.requests.slice(0, 2).map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /version',
    'POST /apis/authentication.k8s.io/v1/selfsubjectreviews',
  ]);
  for (const { headers } of lab.fake.requests) expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test('is the same for a runtime that can host topologies', async () => {
  const spec = { traceSource: 'https://traces.example.test', browserImage: 'browser:1' };
  expect(await lab.probe({ spec })).toMatchObject({ reachable: true });
  expect(await lab.inspect({ spec })).toMatchObject({ kind: 'k8s', warnings: [] });
});

test('takes server, namespace and client certificate from a kubeconfig, before any other credential', async () => {
  const { cert, key } = lab.certificates.client;
  const value = lab.kubeconfig({ 'client-certificate-data': btoa(cert), 'client-key-data': btoa(key) });
  const spec = { kubeconfigSecret: 'kube', server: 'https://elsewhere.example.test', caCert: undefined };
  expect(await lab.probe({ spec, credential: { kubeconfig: value } })).toEqual({
    reachable: true,
    detail: 'Kubernetes v1.34.4, namespace evals, as dispatcher',
  });
  expect(lab.fake.requests[0]?.headers.authorization).toBeUndefined();
});

test('does not take an answered version for an accepted credential', async () => {
  const spec = { kubeconfigSecret: 'kube' };
  const nobody = { reachable: false, reason: 'auth', detail: expect.stringMatching(/takes us for anonymous$/) };
  expect(
    await lab.probe({ spec, credential: { kubeconfig: lab.kubeconfig({ username: 'a', password: 'b' }) } }),
  ).toEqual(nobody);
  lab.fake.script('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', failure(404, 'NotFound', 'no such thing'));
  expect(
    await lab.probe({ spec, credential: { kubeconfig: lab.kubeconfig({ username: 'a', password: 'b' }) } }),
  ).toEqual(nobody);
});

test('names every right that a case needs and the account lacks', async () => {
  lab.accounts[TOKEN] = { user: USER, rights: ['get namespaces', 'create jobs', 'list pods', 'get pods/log'] };
  const answer = await lab.probe({ spec: { namespace: 'evals' } });
  expect(answer).toMatchObject({ reachable: false, reason: 'auth' });
  const [met, lacks = ''] = answer.detail.split('; the account lacks in namespace evals: ');
  expect(met).toBe(`Kubernetes v1.34.4, namespace evals, as ${USER}`);
  const had = ['create jobs.batch', 'list pods', 'get pods/log'];
  expect(lacks.split(', ')).toEqual(JOB_RIGHTS.map(rightText).filter((right) => !had.includes(right)));
});

test('a namespace and a runtime class that are not there are named by their fields', async () => {
  expect(await lab.probe({ spec: { namespace: 'nope', runtimeClass: 'kata' } })).toMatchObject({
    reachable: false,
    reason: 'error',
    detail: expect.stringMatching(/; `namespace`: there is no nope; `runtimeClass`: there is no kata$/),
  });
});

test('what the cluster does not tell of rights and namespaces is no doubt', async () => {
  lab.fake.script(`POST ${REVIEWS}`, failure(500, 'InternalError', 'canary'));
  lab.fake.script('GET /api/v1/namespaces/evals', forbidden(USER, { verb: 'get', group: '', resource: 'namespaces' }));
  expect(await lab.probe({ spec: { namespace: 'evals' } })).toMatchObject({ reachable: true });
});

test('accepts clusters that do not say who we are, or not their version', async () => {
  const SELF = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews';
  lab.fake.script(SELF, failure(404, 'NotFound', 'the server could not find the requested resource'));
  expect(await lab.probe()).toEqual({ reachable: true, detail: 'Kubernetes v1.34.4, namespace default' });
  lab.fake.script(SELF, forbidden(USER, { verb: 'create', group: 'authentication.k8s.io', resource: 'x' }));
  const message = `forbidden: User "${USER}" cannot get path "/version"`;
  lab.fake.script('GET /version', failure(403, 'Forbidden', message));
  expect(await lab.probe()).toEqual({ reachable: true, detail: `Kubernetes, namespace default, as ${USER}` });
});

const html = { status: 200, body: '<html>hello</html>', headers: { 'content-type': 'text/html' } };
const redirect = (location: string) => ({ status: 307, body: '', headers: { location } });
const cases: [string, Script, string, RegExp][] = [
  ['a token that is not known', failure(401, 'Unauthorized', 'Unauthorized'), 'auth', /does not accept .*\(401\)/],
  [
    'a wall before the cluster',
    { status: 403, body: '<html>no</html>' },
    'error',
    /answers 403, and not as a Kubernetes/,
  ],
  [
    'https in http',
    { status: 400, body: 'Client sent an HTTP request to an HTTPS server.\n' },
    'error',
    /speaks HTTPS/,
  ],
  ['a web page', html, 'error', /no Kubernetes API server/],
  ['JSON of another kind', { status: 200, body: { gitVersion: '<b>1</b>' } }, 'error', /no Kubernetes API server/],
  ['a list', { status: 200, body: [] }, 'error', /no Kubernetes API server/],
  ['a place without an API', { status: 404, body: '404 page not found' }, 'error', /no Kubernetes API server/],
  ['an outdated request', failure(410, 'Expired', 'old'), 'error', /410 Expired/],
  ['too many requests', { status: 429, body: 'Too many' }, 'error', /too many requests \(429\)/],
  ['a fault', failure(500, 'InternalError', 'canary'), 'error', /answers 500 InternalError$/],
  ['a fault of a proxy', { status: 502, body: 'canary' }, 'error', /answers 502, and not as a Kubernetes/],
  ['a server that is not ready', { status: 503, body: 'apiserver not ready' }, 'error', /answers 503/],
  ['a redirect', redirect('https://169.254.169.254/a?canary'), 'error', /redirect to https:\/\/169.254.169.254$/],
  ['a redirect to nowhere', redirect('data:canary'), 'error', /unexpected redirect/],
  ['a dropped connection', 'reset', 'unreachable', /cut|ended/],
  ['half an answer', { partial: '{"gitVersion"' }, 'unreachable', /cut|ended/],
  ['an endless answer', { status: 200, body: `"${'x'.repeat(17 * 2 ** 20)}"` }, 'error', /longer than is read/],
];
test.each(cases)('%s is named in our words', async (_what, script, reason, detail) => {
  lab.fake.script('GET /version', script);
  const answer = await lab.probe();
  expect(answer).toEqual({ reachable: false, reason, detail: expect.stringMatching(detail) });
  expect(answer.detail).not.toMatch(/canary|[\p{Cc}\p{Cf}]/u);
  expect(lab.fake.requests).toHaveLength(1);
});

test('a silent cluster is unreachable once the time is up', async () => {
  lab.fake.script('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', 'hang');
  expect(await lab.probe({ timeoutMs: 300 })).toMatchObject({
    reason: 'unreachable',
    detail: 'it did not answer in time',
  });
});

test('K25 a certificate that is not of the authority, or of another name, is an error', async () => {
  expect(await lab.probe({ spec: { caCert: undefined } })).toMatchObject({ reason: 'error', detail: /give `caCert`/ });
  const other = makeCertificates().ca;
  expect(await lab.probe({ spec: { caCert: other } })).toMatchObject({
    reason: 'error',
    detail: /authority that is given/,
  });
  const server = lab.fake.url.replace('127.0.0.1', 'kube.other.test');
  const value = lab.kubeconfig({ token: TOKEN }, server);
  const egress = new Egress(parseAllowList('127.0.0.0/8').rules, async () => [{ address: '127.0.0.1', family: 4 }]);
  const spec = { kubeconfigSecret: 'kube' };
  const options = { spec, egress, credential: { kubeconfig: value, origins: [server] } };
  expect(await lab.probe(options)).toMatchObject({ reason: 'error', detail: /of another name/ });
  const named = JSON.parse(value);
  named.clusters[0].cluster['tls-server-name'] = 'kube.example.test';
  const credential = { kubeconfig: JSON.stringify(named), origins: [server] };
  expect(await lab.probe({ ...options, credential })).toMatchObject({ reachable: true });
});

test('nothing is sent where the address is closed, or the secret is for another one', async () => {
  expect(await lab.probe({ egress: new Egress([]) })).toMatchObject({ reachable: false, reason: 'refused' });
  expect(await lab.probe({ credential: { origins: ['https://kube.example.test:6443'] } })).toMatchObject({
    reason: 'refused',
    detail: expect.stringContaining('may be sent to https://kube.example.test:6443 only'),
  });
  expect(lab.fake.requests).toEqual([]);
});

test('a credential that cannot be one is refused by its field', async () => {
  const token = lab.kubeconfig({ token: TOKEN });
  expect(await lab.probe({ credential: { token } })).toMatchObject({
    reason: 'refused',
    detail: expect.stringMatching(/^`authSecret` .*goes into `kubeconfigSecret`$/),
  });
  expect(await lab.probe({ spec: { caCert: '-----BEGIN CERTIFICATE-----\nx' } })).toMatchObject({ reason: 'refused' });
  const spec = { kubeconfigSecret: 'kube' };
  const { cert } = lab.certificates.client;
  const user = { 'client-certificate-data': btoa(cert), 'client-key-data': btoa(lab.certificates.server.key) };
  expect(await lab.probe({ spec, credential: { kubeconfig: lab.kubeconfig(user) } })).toMatchObject({
    reason: 'refused',
    detail: expect.stringContaining('client key of another certificate'),
  });
  expect(lab.fake.requests).toEqual([]);
});
