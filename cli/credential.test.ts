import { aPlatform, everdict, problem } from '../test/cli-fakes.js';

const me = { subject: 'github:acme/agent', workspace: 'default', role: 'ci', scope: 'write', mode: 'authenticated' };
const who = { body: { ...me, isOperator: false, expiresAt: null, workspaces: [] } };

/** GitHub, which gives a job a new token each time. */
async function github() {
  let given = 0;
  const { url, asked, close } = await aPlatform(() => {
    given += 1;
    return { body: { value: `token-${given}` } };
  });
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/token?api=1`, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job' };
  return { env: { ...env, EVERDICT_GITHUB_AUDIENCE: 'evals' }, asked, close };
}

test('a workflow of GitHub without a key comes with a token for the platform', async () => {
  const { env, asked, close } = await github();
  const called = await everdict(['whoami'], () => who, { env });
  await close();
  expect(called.exitCode).toBe(0);
  expect(called.asked[0]?.headers.authorization).toBe('Bearer token-1');
  expect(asked).toMatchObject([
    { path: '/token', query: { api: '1', audience: 'evals' }, headers: { authorization: 'bearer of-the-job' } },
  ]);
});

test('a token that is over is renewed once for a call, and the next calls come with the new one', async () => {
  const { env, close } = await github();
  const over = problem(401, { code: 'UNAUTHENTICATED', detail: 'the token is over' });
  const isOver = ({ headers }: { headers: { authorization?: string } }) => headers.authorization === 'Bearer token-1';
  const renewed = await everdict(['whoami'], (asked) => (isOver(asked) ? over : who), { env });
  expect(renewed.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  expect(renewed.exitCode).toBe(0);
  const refused = await everdict(['whoami'], () => over, { env });
  await close();
  expect(refused.asked).toHaveLength(2);
  expect(refused).toMatchObject({ exitCode: 3, err: expect.stringContaining('the token is over') });
});

test('a key goes before the token, and is not tried twice', async () => {
  const { env, asked, close } = await github();
  const over = problem(401, { code: 'UNAUTHENTICATED', detail: 'no such key' });
  const called = await everdict(['whoami'], () => over, { env: { ...env, EVERDICT_API_KEY: 'ak_1' } });
  await close();
  expect(called.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer ak_1']);
  expect(asked).toEqual([]);
});

test('a job that GitHub gives no token is told what it needs, and its secret shows nowhere', async () => {
  const { url, close } = await aPlatform(() => ({ status: 403, body: {} }));
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job' };
  const { err, out, exitCode } = await everdict(['whoami'], () => who, { env });
  await close();
  expect(err).toMatch(/no token \(it answered 403\).*id-token: write/s);
  expect(err + out).not.toContain('of-the-job');
  expect(exitCode).toBe(3);
});

test('GitHub that has trouble for a while is no refusal', async () => {
  const { url, close } = await aPlatform(() => ({ status: 503, body: {} }));
  const env = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job' };
  const { exitCode } = await everdict(['whoami'], () => who, { env });
  await close();
  expect(exitCode).toBe(4);
});
