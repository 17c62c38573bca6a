import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Attempt, discardAttempts, runAttempt } from './attempts.js';
import { findProgram, inEveryShell, removeShells, type Shell } from './shells.js';

afterEach(discardAttempts);
afterAll(removeShells);

const git = findProgram('git');

describe('files', () => {
  inEveryShell('are written byte for byte before the setup, whatever their names', async (shell) => {
    const files = {
      'a b/c"d': "it's $HOME\n",
      'ünï/çödé': 'ünï',
      '-n': 'no newline',
      '--': '',
      '$(touch pwned)': '`touch pwned`\\',
      'back\\slash *': '\n\n',
      ' leading and trailing ': 'x\n',
      'deep/er/still/here': '\r\n',
      'deep/er/beside': '%s',
      'text 1': 'text',
    };
    const attempt = new Attempt(shell, { files, setup: ["cat 'deep/er/beside'"] });
    const { log } = await attempt.run();

    for (const [path, text] of Object.entries(files)) expect(readFileSync(join(attempt.work, path), 'utf8')).toBe(text);
    expect(readdirSync(attempt.work)).not.toContain('pwned');
    expect(log.toString()).toBe('%s');
  });

  inEveryShell('that are not text are decoded, every byte there is, and fast', async (shell) => {
    const bytes = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, i) => i)), randomBytes(250_000)]);
    const files = { 'all.bin': { hex: bytes.toString('hex') }, empty: { hex: '' }, one: { hex: '0A' } };
    const attempt = new Attempt(shell, { files });
    const begun = performance.now();
    await attempt.run();

    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(readFileSync(join(attempt.work, 'all.bin')).equals(bytes)).toBe(true);
    expect([
      readFileSync(join(attempt.work, 'empty'), 'utf8'),
      readFileSync(join(attempt.work, 'one'), 'utf8'),
    ]).toEqual(['', '\n']);
  });

  inEveryShell('that cannot be written keep the command from running', async (shell) => {
    const { code, log, record } = await runAttempt(shell, { files: { a: '', 'a/b': '' }, command: 'echo ran' });

    expect({ code, log: log.toString() }).toEqual({ code: 1, log: '' });
    expect(record).toMatchObject({ status: null, setupFailed: { index: 0, status: 1 } });
  });
});

describe('the work directory', () => {
  inEveryShell('is below the state directory, or where the harness wants it', async (shell) => {
    const absolute = new Attempt(shell, { command: 'pwd; echo "$HOME"' });
    const elsewhere = join(absolute.dir, 'else where');
    const relative = new Attempt(shell, { workDir: 'a/b', files: { x: 'x' }, command: 'pwd; cat x' });
    const other = new Attempt(shell, { workDir: elsewhere, files: { x: 'x' }, command: 'pwd; cat x' });
    const logs = await Promise.all(
      [absolute, relative, other].map(async (attempt) => (await attempt.run()).log.toString()),
    );

    expect(logs).toEqual([`${absolute.work}\n${absolute.work}\n`, `${relative.work}/a/b\nx`, `${elsewhere}\nx`]);
  });
});

describe('setup', () => {
  inEveryShell('runs step by step before the command, which finds what it started', async (shell) => {
    const setup = ['echo 1 >>steps; sleep 60 & echo $! >service', 'echo 2 >>steps; echo said; echo warned >&2'];
    const command = 'cat steps; read -r pid <service; kill -0 "$pid"';
    const { code, log, stderr, record } = await runAttempt(shell, { setup, command });

    expect({ code, log: log.toString(), stderr }).toEqual({ code: 0, log: 'said\n1\n2\n', stderr: 'warned\n' });
    expect(Buffer.from(record?.answer ?? []).toString()).toBe('1\n2\n');
    expect(record).toMatchObject({ status: 0, leftovers: 1 });
  });

  inEveryShell('that fails says which step, and nothing after it runs', async (shell) => {
    const attempt = new Attempt(shell, {
      setup: [':', 'exit 7', ': >third'],
      command: ': >ran',
      graders: [': >graded'],
    });
    const { code, record } = await attempt.run();

    expect(code).toBe(1);
    expect(record).toMatchObject({ status: null, timer: 'none', setupFailed: { index: 2, status: 7 }, graders: [] });
    expect(record).toMatchObject({ answerFrom: 'stdout', answerBytes: 0, answerCut: false });
    expect(readdirSync(attempt.work)).toEqual([]);
  });

  inEveryShell('that takes too long is stopped by a timer of its own', async (shell) => {
    const setup = [':', "trap '' TERM; sleep 60 & sleep 60"];
    const { code, log, record } = await runAttempt(shell, { setup, command: 'echo ran', timers: { setupSec: 1 } });

    expect({ code, log: log.toString() }).toEqual({ code: 1, log: '' });
    expect(record).toMatchObject({
      status: null,
      timer: 'setup',
      setupFailed: { index: 2, status: 137 },
      commandMs: 0,
    });
    expect(record?.setupMs).toBeGreaterThanOrEqual(1_000);
  });
});

describe('the environment', () => {
  inEveryShell('holds what the job is told, and nothing of whoever started it', async (shell) => {
    const attempt = new Attempt(shell, {
      command: 'cat /proc/self/environ',
      model: 'm-1',
      env: { TOKEN: "a'b\nc" },
      params: { 'max-steps': 3 },
    });
    const { log } = await attempt.run();
    const lines = log.toString().split('\0').slice(0, -1);
    // Shells add these themselves.
    const variables = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) delete variables[name];

    expect(variables).toEqual({
      ...{ PATH: shell.path, HOME: attempt.work, TMPDIR: join(attempt.state, 'tmp'), LANG: 'C.UTF-8' },
      ...{
        EVERDICT_ATTEMPT: attempt.name,
        EVERDICT_RUN_ID: 'run_1',
        EVERDICT_CASE_ID: 'case-1',
        EVERDICT_MODEL: 'm-1',
      },
      ...{ EVERDICT_TASK: 'say hello', EVERDICT_TASK_FILE: join(attempt.payload, 'task') },
      ...{ EVERDICT_ANSWER_FILE: join(attempt.state, 'answer'), EVERDICT_USAGE_FILE: join(attempt.state, 'usage') },
      ...{ TOKEN: "a'b\nc", EVERDICT_PARAM_MAX_STEPS: '3' },
    });
    expect(existsSync(join(attempt.state, 'tmp'))).toBe(true);
  });

  inEveryShell('holds what the image brings, and takes no harm from names that the wrapper uses', async (shell) => {
    const image = { hex: 'x', answer: 'x', state: '/nowhere', payload: '/nowhere', FROM_IMAGE: 'kept' };
    const { log, record } = await runAttempt(shell, { image, command: 'echo "$FROM_IMAGE"', graders: ['true'] });

    expect(log.toString()).toBe('kept\n');
    expect(record).toMatchObject({ status: 0, graders: [{ status: 0 }] });
  });

  inEveryShell('holds any name the harness wants, even one that the wrapper uses', async (shell) => {
    const env = { payload: 'p', state: 's', work: 'w', code: 'c', nonce: 'n' };
    const { log } = await runAttempt(shell, { env, command: 'echo "$payload $state $work $code $nonce"' });

    expect(log.toString()).toBe('p s w c n\n');
  });

  inEveryShell('may choose another PATH for the command alone', async (shell) => {
    const { log, record } = await runAttempt(shell, {
      env: { PATH: '/nowhere' },
      command: 'echo "$PATH"',
      graders: ['true'],
    });

    expect(log.toString()).toBe('/nowhere\n');
    expect(record).toMatchObject({ status: 0, graders: [{ status: 0 }] });
  });
});

describe('the task', () => {
  inEveryShell('is in the environment byte for byte', async (shell) => {
    const task = ` it's "$HOME" \`x\` \\n\t${'ü'.repeat(3)}\n\n`;
    const { log } = await runAttempt(shell, { task, command: `printf '%s' "$EVERDICT_TASK"` });

    expect(log.toString()).toBe(task);
  });

  inEveryShell('of more than 100 KB is in its file only', async (shell) => {
    const tasks = ['x'.repeat(102_400), 'x'.repeat(102_401)];
    const command = `printf '%s ' "\${#EVERDICT_TASK}" "$EVERDICT_TASK_FILE"; wc -c <"$EVERDICT_TASK_FILE"`;
    const logs = await Promise.all(
      tasks.map(async (task) => (await runAttempt(shell, { task, command })).log.toString()),
    );

    expect(logs[0]).toMatch(/^102400 \S+\/task 102400\n$/);
    expect(logs[1]).toMatch(/^0 \S+\/task 102401\n$/);
  });
});

describe('a state directory that cannot hold what a job needs', () => {
  inEveryShell('keeps the command from running', async (shell) => {
    const attempt = new Attempt(shell, { command: 'echo ran' });
    mkdirSync(join(attempt.state, 'command.out'), { recursive: true });
    const { code, log, record } = await attempt.run();

    expect({ code, log: log.toString() }).toEqual({ code: 1, log: '' });
    expect(record).toMatchObject({ status: null, setupFailed: { index: 0 } });
  });
});

/** The shell's PATH with one tool more, or less. */
function withTools(shell: Shell, dir: string, change: (path: string) => void): Shell {
  mkdirSync(dir);
  for (const tool of readdirSync(shell.path)) symlinkSync(join(shell.path, tool), join(dir, tool));
  change(dir);
  return { ...shell, path: dir };
}

describe('a tool that is missing', () => {
  const tools = [
    { tool: 'git', input: { git: { url: 'file:///nowhere', ref: 'main' } } },
    { tool: 'od', input: {} },
    { tool: 'mkdir', input: {} },
  ];
  for (const { tool, input } of tools) {
    inEveryShell(`is named: ${tool}`, async (shell) => {
      // Whatever PATH says, busybox finds what it has built in.
      if (shell.name === 'busybox' && tool !== 'git') return;
      const { dir } = new Attempt(shell, {});
      const poorer = withTools(shell, join(dir, 'tools'), (path) => rmSync(join(path, tool), { force: true }));
      const { code, log, record } = await runAttempt(poorer, { ...input, command: 'echo ran' });

      expect({ code, log: log.toString() }).toEqual({ code: 1, log: '' });
      expect(record).toMatchObject({ status: null, toolMissing: tool });
    });
  }
});

(git ? describe : describe.skip)('a checkout', () => {
  function repository(dir: string): { url: string; first: string } {
    const run = (...args: string[]) => execFileSync(git ?? '', ['-C', dir, ...args], { encoding: 'utf8' }).trim();
    const commit = (message: string) =>
      run('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-q', '--allow-empty', '-m', message);
    run('init', '-q', '-b', 'main', '.');
    commit('task');
    const first = run('rev-parse', 'HEAD');
    run('tag', 'v1');
    commit('solution');
    return { url: `file://${dir}`, first };
  }

  inEveryShell('brings the commit that was asked for, by any name, and none after it', async (shell) => {
    const { dir } = new Attempt(shell, {});
    const source = join(dir, 'source');
    mkdirSync(source);
    const { url, first } = repository(source);
    const richer = withTools(shell, join(dir, 'tools'), (path) => symlinkSync(git ?? '', join(path, 'git')));
    const command = 'git log --all --format=%s; cat .git/HEAD';
    const refs = ['v1', first, 'main'];
    const runs = await Promise.all(
      refs.map((ref) => runAttempt(richer, { git: { url, ref }, command, setup: ['git status -s'] })),
    );
    const [tag, commit, branch] = runs.map(({ log }) => log.toString());

    expect([tag, commit]).toEqual([`task\n${first}\n`, `task\n${first}\n`]);
    expect(branch).toMatch(/^solution\n[0-9a-f]{40}\n$/);
  });

  inEveryShell('that fails is step 0 of the setup', async (shell) => {
    const { dir } = new Attempt(shell, {});
    const richer = withTools(shell, join(dir, 'tools'), (path) => symlinkSync(git ?? '', join(path, 'git')));
    const { record, stderr } = await runAttempt(richer, {
      git: { url: `file://${dir}/none`, ref: 'main' },
      setup: [':'],
    });

    expect(record).toMatchObject({ status: null, timer: 'none', setupFailed: { index: 0 } });
    expect(stderr).toContain('none');
  });
});
