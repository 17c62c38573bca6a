import { type Answer, everdict, problem, unused } from '../test/cli-fakes.js';

const stored = (warnings: string[] = []): Answer => ({
  status: 201,
  body: {
    name: 'token',
    use: 'cluster',
    origins: ['https://nomad.example'],
    updatedBy: 'me',
    updatedAt: '2026-01-01T00:00:00.000Z',
    warnings,
  },
});
const SET = ['secret', 'set', 'token', '--use', 'cluster', '--origin', 'https://nomad.example'];

describe('secret set', () => {
  test('sends what is piped in, without the line break at its end, and says so', async () => {
    const { asked, out, err } = await everdict(SET, () => stored(['it is short']), { input: 'S3cr3t\nAAAA\r\n' });
    expect(asked[0]).toMatchObject({ method: 'PUT', path: '/secrets/token' });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      use: 'cluster',
      value: 'S3cr3t\nAAAA',
      origins: ['https://nomad.example'],
    });
    expect(out).toBe('secret token is set (for https://nomad.example)\n');
    expect(err).toContain('line break at the end');
    expect(err).toContain('note: it is short');
  });

  test.each([
    ['no value', SET, '\n', /the value is empty/],
    ['bytes that are no text', SET, Buffer.from([0xff, 0xfe]), /not text in UTF-8/],
    ['a value on the command line', [...SET, 'S3cr3t'], 'x', /too many arguments/],
    ['no use', ['secret', 'set', 'token'], 'x', /--use <use>/],
  ])('refuses %s without asking the platform', async (_title, words, input, message) => {
    const { err, exitCode } = await everdict(words, unused, { input });
    expect(err).toMatch(message);
    expect([exitCode, err.includes('S3cr3t')]).toEqual([3, false]);
  });
});

test('secret list shows what each is for', async () => {
  const items = [(stored() as { body: object }).body];
  const { out } = await everdict(['secret', 'list'], () => ({ body: { items, next: null } }));
  expect(out).toMatch(/token +cluster +https:\/\/nomad.example +2026-01-01T00:00:00.000Z +me/);
});

test('secret delete tells who names the secret, and forces on demand', async () => {
  const errors = [{ path: '', message: 'runtime gpu@1 names it' }];
  const refused = await everdict(['secret', 'delete', 'token'], () => problem(409, { detail: 'is named', errors }));
  expect(refused.err).toContain('runtime gpu@1 names it');
  const forced = await everdict(['secret', 'delete', 'token', '--force'], () => ({ status: 204, body: '' }));
  expect(forced.asked[0]).toMatchObject({ method: 'DELETE', query: { force: 'true' } });
  expect(forced.out).toBe('secret token is deleted\n');
});

test('secrets rotate-key counts, and names what does not open and keys that may go', async () => {
  const unreadable = [{ workspace: 'default', name: 'lost', reason: 'does not open' }];
  const { out, err, exitCode } = await everdict(['secrets', 'rotate-key'], () => ({
    body: { key: 'new', resealed: 3, unreadable, unneeded: ['old'] },
  }));
  expect(out).toContain('sealed with key new: 3 secrets');
  expect(out).toContain('may drop: old');
  expect(err).toContain('secret lost of workspace default does not open');
  expect(exitCode).toBe(2);
});
