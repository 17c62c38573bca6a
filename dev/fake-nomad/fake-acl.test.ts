import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { EXPIRED, MANAGEMENT, UNKNOWN } from '../../test/nomad-lab.js';
import { FakeNomad } from './fake-nomad.js';

const ONE = '66666666-6666-6666-6666-666666666666';
const OTHER = '77777777-7777-7777-7777-777777777777';
const RIGHTS = ['submit-job', 'read-job', 'list-jobs', 'read-logs'];
const ACL = {
  tokens: {
    [MANAGEMENT]: { type: 'management' as const },
    [EXPIRED]: { expires: '2020-01-01T00:00:00Z' },
    [ONE]: { policies: ['one'] },
    [OTHER]: { policies: ['other'] },
  },
  policies: {
    one: { Namespaces: [{ Name: 'ns1', Capabilities: RIGHTS }] },
    other: { Namespaces: [{ Name: 'ns2', Capabilities: ['submit-job', 'read-job'] }] },
  },
};

let fake: FakeNomad;
let allocation: string;
let evaluation: string;
beforeAll(async () => {
  fake = await FakeNomad.start({ acl: ACL, namespaces: ['default', 'ns1', 'ns2'] });
  const { register, call } = nomadCalls(fake, MANAGEMENT);
  const { body } = await register({ ...aShellJob('j', 'exec sleep 60'), Namespace: 'ns1' });
  evaluation = body.EvalID;
  const placed = await call<{ ID: string }[]>('GET', '/v1/job/j/allocations?namespace=ns1&index=1');
  allocation = placed.body[0]?.ID ?? '';
});
afterAll(() => fake.stop());

const denied = '403 Permission denied';
const malformed = 'token is malformed: token contains an invalid number of segments';
const UUID = 'acl token lookup failed: index error: UUID must be 36 characters';

/** Answers to no token, an unknown one, one that is none, an expired one, and one of another namespace. */
test.each<[string, string, string[]]>([
  ['GET', '/v1/jobs', [denied, denied, denied, denied, denied]],
  ['GET', '/v1/job/j?namespace=ns1', [denied, denied, denied, denied, denied]],
  ['GET', '/v1/job/j/allocations?namespace=ns1', [denied, denied, denied, denied, denied]],
  ['DELETE', '/v1/job/j?namespace=ns1', [denied, denied, denied, denied, denied]],
  ['GET', '/v1/nodes', [denied, denied, denied, denied, denied]],
  ['GET', '/v1/evaluation/E', [denied, denied, denied, denied, denied]],
  ['GET', '/v1/allocation/A', ['500 Unknown allocation "A"', denied, denied, denied, '500 Unknown allocation "A"']],
  [
    'GET',
    '/v1/client/fs/logs/A?task=case&type=stdout&plain=true',
    [
      '500 Permission denied',
      '500 rpc error: Permission denied',
      `500 rpc error: failed to verify token: ${malformed}`,
      '500 rpc error: ACL token expired',
      '500 Permission denied',
    ],
  ],
  [
    'GET',
    '/v1/agent/self',
    [
      denied,
      '403 ACL token not found',
      `500 failed to resolve ACL token: ${UUID}`,
      '500 failed to resolve ACL token: ACL token expired',
      denied,
    ],
  ],
  ['GET', '/v1/namespaces', ['200 []', denied, denied, denied, '200 ns2']],
  ['GET', '/v1/status/leader', Array.from({ length: 5 }, () => '200 "127.0.0.1:4647"')],
  ['PUT', '/v1/jobs?namespace=nope', ['500 nope', denied, denied, denied, '500 nope']],
  ['PUT', '/v1/jobs?namespace=ns1', [denied, denied, denied, denied, denied]],
])('%s %s is refused as it was measured', async (method, path, expected) => {
  const tokens = [undefined, UNKNOWN, 'x', EXPIRED, OTHER];
  const real = path.replace('/A', `/${allocation}`).replace('/E', `/${evaluation}`);
  const content = method === 'PUT' ? { Job: aShellJob('j2', 'true') } : undefined;
  const answers = await Promise.all(tokens.map((token) => nomadCalls(fake, token).call(method, real, content)));
  const short = (text: string) =>
    /"Name":"(ns\d)"/.exec(text)?.[1] ??
    /nonexistent namespace "(nope)"/.exec(text)?.[1] ??
    text.replace(allocation, 'A');
  expect(answers.map(({ status, text }) => `${status} ${short(text)}`)).toEqual(expected);
});

test('a token sees what is of its namespace: the namespace of an allocation is its own, that of an evaluation is asked for', async () => {
  const { call } = nomadCalls(fake, ONE);
  const status = async (path: string) => (await call('GET', path)).status;
  expect(await status(`/v1/allocation/${allocation}`)).toBe(200);
  expect(await status(`/v1/allocation/${allocation}?namespace=ns2`)).toBe(200);
  expect(await status(`/v1/evaluation/${evaluation}`)).toBe(403);
  expect(await status(`/v1/evaluation/${evaluation}?namespace=ns1`)).toBe(200);
  expect((await call<{ ID: string }[]>('GET', '/v1/jobs?namespace=*')).body.map(({ ID }) => ID)).toEqual(['j']);
  expect((await nomadCalls(fake, OTHER).call('GET', '/v1/allocations?namespace=*')).body).toEqual([]);
});

test('the namespace of the query wins over that of the job', async () => {
  const { call } = nomadCalls(fake, MANAGEMENT);
  const Job = { ...aShellJob('moved', 'true'), Namespace: 'ns1' };
  expect((await call('PUT', '/v1/jobs?namespace=ns2', { Job })).status).toBe(200);
  expect((await call('GET', '/v1/job/moved?namespace=ns2')).status).toBe(200);
  expect(await call('GET', '/v1/job/moved?namespace=ns1')).toMatchObject({ status: 404, text: 'job not found' });
});

test('version 2 says less of a token that it does not know', async () => {
  const newer = await FakeNomad.start({ acl: ACL, version: '2.0.5' });
  const answers = await Promise.all(
    [UNKNOWN, EXPIRED].map((token) => nomadCalls(newer, token).call('GET', '/v1/agent/self')),
  );
  expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual([
    denied,
    '500 ACL token not found or invalid workload identity: ACL token expired',
  ]);
  await newer.stop();
});
