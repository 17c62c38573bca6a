import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { EXPIRED, JOBS_ONLY, MANAGEMENT, UNKNOWN } from '../../test/nomad-lab.js';
import { FakeNomad } from './fake-nomad.js';

const LOGS_ONLY = '66666666-6666-6666-6666-666666666666';

let fake: FakeNomad;
let id = '';
beforeAll(async () => {
  const rights = ['submit-job', 'read-job'];
  fake = await FakeNomad.start({
    acl: {
      tokens: {
        [MANAGEMENT]: { type: 'management' },
        [JOBS_ONLY]: { policies: ['jobs'] },
        [LOGS_ONLY]: { policies: ['logs'] },
        [EXPIRED]: { expires: '2020-01-01T00:00:00Z' },
      },
      policies: {
        jobs: { Namespaces: [{ Name: 'default', Capabilities: rights }] },
        logs: { Namespaces: [{ Name: 'default', Capabilities: ['read-logs'] }] },
      },
    },
  });
  const nomad = nomadCalls(fake, MANAGEMENT);
  await nomad.register(aShellJob('one', 'echo hello'));
  id = (await nomad.allocation('one', ({ ClientStatus }) => ClientStatus === 'complete')).ID;
});
afterAll(() => fake.stop());

async function ask(path: string, token?: string): Promise<string> {
  const { status, text } = await nomadCalls(fake, token).call('GET', `/v1/client/fs/${path.replace('AL', id)}`);
  return `${status} ${text}`;
}

const LOGS = 'logs/AL?task=case&type=stdout&plain=true';

test.each<[string, string | undefined, string]>([
  ['of management', MANAGEMENT, '200 hello\n'],
  ['that may read logs', LOGS_ONLY, '200 hello\n'],
  ['that may not', JOBS_ONLY, '500 Permission denied'],
  ['that is none', undefined, '500 Permission denied'],
  ['that nobody knows', UNKNOWN, '500 rpc error: Permission denied'],
  [
    'that is no UUID',
    'x',
    '500 rpc error: failed to verify token: token is malformed: token contains an invalid number of segments',
  ],
  ['that has expired', EXPIRED, '500 rpc error: ACL token expired'],
])('logs are answered to a token %s', async (_title, token, answer) => {
  expect(await ask(LOGS, token)).toBe(answer);
});

test.each([
  ['ls/AL?path=alloc/logs', LOGS_ONLY, '500 Permission denied'],
  ['cat/AL?path=alloc/logs/case.stdout.0', LOGS_ONLY, '200 Permission denied'],
  ['cat/AL?path=alloc/logs/case.stdout.0', MANAGEMENT, '200 hello\n'],
  ['readat/AL?path=alloc/logs/case.stdout.0&offset=2', MANAGEMENT, '200 llo\n'],
  ['write/AL?path=alloc', MANAGEMENT, '404 Invalid method'],
  ['logs/?task=case&type=stdout', MANAGEMENT, '400 must provide a valid alloc id'],
])('%s is answered', async (path, token, answer) => {
  expect(await ask(path, token)).toBe(answer);
});

test('what is not known of a verb is refused aloud', async () => {
  expect(await ask('stream/AL?path=alloc', MANAGEMENT)).toMatch(/^501 /);
  expect(fake.unknown).toHaveLength(1);
});
