import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { aPlatform, aTerminal, everdict, problem } from '../test/cli-fakes.js';
import { runCommandLine } from './program.js';

const KEY = 'ak_0123456789012345678901234567890123456789012';
const ME = {
  subject: 'key:0123456789ab',
  mode: 'authenticated',
  scope: 'admin',
  isOperator: false,
  workspace: 'default',
  role: 'admin',
  workspaces: [{ id: 'default', role: 'admin' }],
  expiresAt: null,
};

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'everdict-home-'));
});
afterEach(() => rmSync(home, { recursive: true }));

test('a login is tried, kept for its platform alone where only its user reads it, and sent from then on', async () => {
  const platform = await aPlatform(({ path: asked }) => ({
    body: asked === '/whoami' ? ME : { items: [], next: null },
  }));
  const other = await aPlatform(() => ({ body: { items: [], next: null } }));
  const run = async (words: string[], env = {}) => {
    const terminal = aTerminal({ home, input: `${KEY}\n`, env: { EVERDICT_URL: undefined, ...env } });
    await runCommandLine(words, terminal);
    return terminal;
  };
  const login = await run(['login', '--url', `${platform.url}/`]);
  expect(login.out.text).toContain('logged in: key:0123456789ab');
  expect(login.out.text + login.err.text).not.toContain(KEY);
  expect(statSync(path.join(home, '.config/everdict/logins.json')).mode & 0o777).toBe(0o600);

  await run(['run', 'list']);
  await run(['run', 'list', '--workspace', 'team']);
  await run(['run', 'list'], { EVERDICT_API_KEY: 'ak_of_the_environment', EVERDICT_WORKSPACE: 'lab' });
  await run(['run', 'list', '--url', other.url]);
  await run(['logout']);
  await run(['run', 'list', '--url', platform.url]);
  const sent = platform.asked.map(({ headers }) => [headers.authorization, headers['x-everdict-workspace']]);
  expect(sent).toEqual([
    [`Bearer ${KEY}`, undefined],
    [`Bearer ${KEY}`, undefined],
    [`Bearer ${KEY}`, 'team'],
    ['Bearer ak_of_the_environment', 'lab'],
    [undefined, undefined],
  ]);
  expect(other.asked[0]?.headers.authorization).toBeUndefined();
  await Promise.all([platform.close(), other.close()]);
});

test.each([
  [
    'a key that is refused',
    KEY,
    problem(401, { code: 'UNAUTHENTICATED', detail: 'the API key is not known' }),
    /not known/,
  ],
  ['nothing', '\n', { body: ME }, /no key was given/],
  ['a platform that asks nobody', KEY, { body: { ...ME, mode: 'dev' } }, /nothing to keep/],
])('login keeps nothing of %s', async (_title, input, answer, said) => {
  const { out, err } = await everdict(['login'], () => answer, { input, home });
  expect(out + err).toMatch(said);
  expect(() => statSync(path.join(home, '.config/everdict/logins.json'))).toThrow('ENOENT');
});

test.each([
  [401, 'UNAUTHENTICATED', 'npx everdict login'],
  [403, 'FORBIDDEN', 'npx everdict whoami'],
  [400, 'WORKSPACE_REQUIRED', '--workspace'],
])('a %i %s says what to do', async (status, code, next) => {
  const { err, exitCode } = await everdict(['run', 'list'], () => problem(status, { code, detail: 'no' }));
  expect([exitCode, err]).toEqual([3, expect.stringContaining(next)]);
});

test('a new key stands alone on stdout', async () => {
  const made = {
    ...{ id: '0123456789ab', name: 'nightly', role: 'ci', scope: 'admin', createdBy: 'operator', value: KEY },
    ...{ createdAt: '2026-01-01T00:00:00.000Z', expiresAt: null, lastUsedAt: null, revokedAt: null },
  };
  const words = ['key', 'create', 'nightly', '--role', 'ci', '--expires', '30d'];
  const { out, err, asked } = await everdict(words, () => ({ status: 201, body: made }));
  expect([out, err]).toEqual([`${KEY}\n`, expect.stringContaining('key revoke 0123456789ab')]);
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    name: 'nightly',
    role: 'ci',
    expiresAt: '1970-01-31T00:00:00.000Z',
  });
});
