import { spawnSync } from 'node:child_process';
import { everdict } from '../test/cli-fakes.js';

/** What bash offers for a line whose last word is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const { out } = await everdict(['completion', 'bash'], () => ({ body: {} }));
  const line = ['everdict', ...words].map((word) => `'${word}'`).join(' ');
  const script = `${out}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _everdict; echo "\${COMPREPLY[*]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split(' ').filter(Boolean);
}

describe('completion', () => {
  test.each([
    [['sc'], ['scorecard']],
    [['run', 'a'], ['attempts']],
    [['--json', 'run', 'sh'], ['show']],
    [['dataset', 'add', 'x.jsonl', '--vers'], ['--version']],
    [['runtime', 'list', '--u'], ['--url']],
    [['dev', 'status', '--d'], ['--dir']],
    [['nonsense', 'x'], []],
  ])('of %j offers %j', async (words, want) => {
    expect(await offered(...words)).toEqual(want);
  });

  test('knows every group of commands', async () => {
    expect(await offered('')).toEqual(
      expect.arrayContaining([
        'dev',
        'status',
        'version',
        'runtime',
        'dataset',
        'harness',
        'scorecard',
        'run',
        '--help',
      ]),
    );
  });

  test('is not to be had for another shell', async () => {
    const { err, exitCode } = await everdict(['completion', 'fish'], () => ({ body: {} }));
    expect(err).toContain('Allowed choices are bash, zsh');
    expect(exitCode).toBe(3);
  });
});
