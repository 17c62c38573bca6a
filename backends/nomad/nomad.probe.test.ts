import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { ProbeAnswer } from '../../contracts/inspection.js';
import type { Answer } from '../../dev/fake-http/fake-answer.js';
import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { selfSigned } from '../../test/certificates.js';
import { ACL, EXPIRED, html, JOBS_ONLY, looking, MANAGEMENT, OPTIONS, READER, UNKNOWN } from '../../test/nomad-lab.js';

let open: FakeNomad;
let guarded: FakeNomad;
beforeAll(async () => {
  open = await FakeNomad.start(OPTIONS);
  guarded = await FakeNomad.start({ ...OPTIONS, acl: ACL, namespaces: ['default', 'eval-1'] });
});
afterEach(() => {
  open.reset();
  guarded.reset();
});
afterAll(() => Promise.all([open.stop(), guarded.stop()]));

const probe = (addr: string, token?: string, parts: object = {}, withinMs = 5_000): Promise<ProbeAnswer> =>
  looking({ addr, ...parts }, token, (cluster) => cluster.probe(AbortSignal.timeout(withinMs)));

test('a Nomad that answers is named with its version and the agent, and gives no reason', async () => {
  expect(await probe(open.url)).toEqual({ reachable: true, detail: 'Nomad 1.6.10, agent rack-1.global' });
});

test('a region is looked for, and one that is not there is told with its field', async () => {
  expect(await probe(open.url, undefined, { region: 'global' })).toMatchObject({ reachable: true });
  expect(await probe(open.url, undefined, { region: 'nowhere' })).toEqual({
    reachable: false,
    reason: 'error',
    detail: expect.stringMatching(/^`region`: .*no way/),
  });
});

test('a path of the address stays, as behind a proxy', async () => {
  open.script('/nomad/v1/agent/self', { status: 200, body: { member: { Name: 'behind' } } });
  expect(await probe(`${open.url}/nomad/`)).toEqual({ reachable: true, detail: 'Nomad, agent behind' });
});

test('what the spec names and the cluster does not have is told with the answer', async () => {
  const detail = async (parts: Record<string, unknown>) =>
    (await looking({ addr: open.url, ...parts }, undefined, (cluster) => cluster.probe(AbortSignal.timeout(5_000))))
      .detail;
  expect(await detail({ namespace: 'nope', datacenters: ['nowhere', 'dc1'] })).toMatch(
    /; there is no namespace nope, or the credential may not see it; no node is in datacenter nowhere$/,
  );
  expect(await detail({ namespace: 'default', datacenters: ['dc*'] })).not.toContain(';');
});

test.each([
  [MANAGEMENT, { reachable: true }],
  [READER, { reachable: true }],
  [JOBS_ONLY, { reachable: true, detail: 'Nomad takes the ACL token, which may not read the agent' }],
  [EXPIRED, { reason: 'auth', detail: 'its ACL token has expired (500)' }],
  [UNKNOWN, { reason: 'auth', detail: 'it does not know the ACL token (403)' }],
  ['junk', { reason: 'auth', detail: 'the credential is no ACL token (500)' }],
  [undefined, { reason: 'auth', detail: 'it asks for an ACL token: name a secret with one in `authSecret` (403)' }],
])('token %s', async (token, expected) => {
  expect(await probe(guarded.url, token)).toMatchObject(expected);
});

const redirect = (status: number, location: string): Answer => ({ status, body: '', headers: { location } });
const ANSWERS: [string, Answer, Partial<ProbeAnswer>][] = [
  ['403', { status: 403, body: 'Permission denied' }, { reason: 'auth' }],
  ['500', { status: 500, body: 'No cluster leader' }, { reason: 'error', detail: 'Nomad has no leader now (500)' }],
  ['500 of anything', { status: 500, body: 'secret \u001b[31m' }, { reason: 'error', detail: 'it answers 500' }],
  ['429', { status: 429, body: 'Your IP is issuing too many concurrent connections, please' }, { reason: 'error' }],
  ['a login of a proxy', { status: 401, body: '' }, { reason: 'auth' }],
  ['another site', { status: 200, body: '<html>', headers: html }, { reason: 'error' }],
  ['JSON of something else', { status: 200, body: { ok: true } }, { reason: 'error' }],
  ['a list', { status: 200, body: [] }, { reason: 'error' }],
  ['a page that is missing', { status: 404, body: 'no', headers: html }, { reason: 'error' }],
  ['no end', 'endless', { reason: 'error', detail: 'it answers with more than 16 MB' }],
  ['a cut', 'reset', { reason: 'unreachable' }],
  [
    '301',
    redirect(301, 'http://169.254.169.254/latest?x=1'),
    { detail: 'unexpected redirect to http://169.254.169.254' },
  ],
  ['302 to TLS', redirect(302, 'https://nomad.test/'), { detail: 'unexpected redirect to https://nomad.test' }],
  [
    '307 to another port',
    redirect(307, 'http://127.0.0.1:1/'),
    { detail: 'unexpected redirect to http://127.0.0.1:1' },
  ],
  ['308 to no address', redirect(308, 'http://['), { detail: 'unexpected redirect to no address' }],
];

test.each(ANSWERS)('an answer with %s is told in our words, and asked for once', async (_title, answer, expected) => {
  open.script('/v1/agent/self', answer);
  expect(await probe(open.url)).toMatchObject({ reachable: false, ...expected });
  expect(open.requests.length).toBe(1);
});

test.each<[string, Answer]>([
  ['does not answer', 'hang'],
  ['answers a byte at a time', 'drip'],
])('one that %s is given up in time', async (_title, answer) => {
  open.script('/v1/agent/self', answer);
  expect(await probe(open.url, undefined, {}, 200)).toEqual({
    reachable: false,
    reason: 'unreachable',
    detail: 'it did not answer in time',
  });
});

test('a closed port, another service and a plain port asked for TLS are told apart', async () => {
  const other = createServer((socket) => socket.on('data', () => socket.end('E\0\0\0invalid startup packet')));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await probe(`http://127.0.0.1:${port}`)).toMatchObject({
    reason: 'error',
    detail: expect.stringMatching(/HTTP/),
  });
  expect(await probe(open.url.replace('http:', 'https:'))).toMatchObject({
    reason: 'error',
    detail: expect.stringMatching(/does not speak TLS/),
  });
  other.close();
  await once(other, 'close');
  expect(await probe(`http://127.0.0.1:${port}`)).toMatchObject({
    reason: 'unreachable',
    detail: 'nothing listens there (ECONNREFUSED)',
  });
});

test('a certificate is taken only for its name, in its time and of its authority', async () => {
  const good = selfSigned('DNS:nomad.test,IP:127.0.0.1');
  const late = selfSigned('IP:127.0.0.1', { expired: true });
  const [nomad, expired] = await Promise.all([FakeNomad.start({ tls: good }), FakeNomad.start({ tls: late })]);
  try {
    const [byName, byOther] = ['nomad.test', 'other.test'].map((name) => nomad.url.replace('127.0.0.1', name));
    expect(await probe(nomad.url)).toMatchObject({ reason: 'error', detail: expect.stringMatching(/self-signed/) });
    expect(await probe(nomad.url, undefined, { caCert: late.cert })).toMatchObject({
      reason: 'error',
      detail: expect.stringMatching(/not of the authority that is given: `caCert`/),
    });
    expect(await probe(nomad.url, undefined, { caCert: good.cert })).toMatchObject({ reachable: true });
    expect(await probe(byName ?? '', undefined, { caCert: good.cert })).toMatchObject({ reachable: true });
    expect(await probe(byOther ?? '', undefined, { caCert: good.cert })).toMatchObject({
      reason: 'error',
      detail: expect.stringMatching(/of another name/),
    });
    expect(await probe(expired.url, undefined, { caCert: late.cert })).toMatchObject({
      reason: 'error',
      detail: expect.stringMatching(/has expired/),
    });
  } finally {
    await Promise.all([nomad.stop(), expired.stop()]);
  }
});
