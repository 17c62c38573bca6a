import { VERSION } from '../config/version.js';
import { type Answer, aTerminal, everdict } from '../test/cli-fakes.js';
import { runCommandLine } from './program.js';

describe('version', () => {
  const answer = (version: string) => (): Answer => ({ body: { openapi: '3.1.0', info: { version } } });

  test('is that of the command and of the platform', async () => {
    const { out, err } = await everdict(['version'], answer(VERSION));
    expect(out).toMatch(new RegExp(`^everdict ${VERSION}\\nplatform ${VERSION} at http://127\\.0\\.0\\.1:\\d+\\n$`));
    expect(err).toBe('');
  });

  test('says so where they differ, and is one document with --json', async () => {
    const { out, err } = await everdict(['version', '--json'], answer('9.9.9'));
    expect(JSON.parse(out)).toMatchObject({ command: VERSION, platform: '9.9.9' });
    expect(err).toContain('the versions differ');
  });

  test('of the command is known without a platform', async () => {
    const terminal = aTerminal();
    await runCommandLine(['version'], terminal);
    expect(terminal.out.text).toBe(`everdict ${VERSION}\n`);
    expect(terminal.exitCode).toBe(4);
  });
});

describe('status', () => {
  test('names what answers', async () => {
    const body = { status: 'ready', checks: [{ name: 'postgres', status: 'ok' }] };
    const { out, exitCode } = await everdict(['status'], () => ({ body }));
    expect(out).toMatch(/^the platform at http:.* is ready\n {2}postgres: ok\n$/);
    expect(exitCode).toBe(0);
  });

  test('names what does not, and ends with 4', async () => {
    const errors = [{ path: 'temporal', message: 'does not answer' }];
    const body = { code: 'NOT_READY', detail: 'not ready: temporal', errors };
    const { err, exitCode } = await everdict(['status'], () => ({
      status: 503,
      type: 'application/problem+json',
      body,
    }));
    expect(err).toContain('temporal: does not answer');
    expect(exitCode).toBe(4);
  });
});
