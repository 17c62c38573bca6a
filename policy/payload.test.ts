import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { buildPayload, type PayloadInput, payloadBytes, quoted } from './payload.js';

const anInput = (parts: Partial<PayloadInput> = {}): PayloadInput => ({
  wrapper: '#!/bin/sh\n',
  runId: 'run_1',
  caseId: 'case-1',
  task: 'say hello',
  setup: [],
  command: 'my-agent "$EVERDICT_TASK"',
  graders: [],
  env: {},
  params: {},
  timers: { setupSec: 600, timeoutSec: 1_800, graderSec: 300, graceSec: 2, lingerSec: 60 },
  answerLimit: 262_144,
  ...parts,
});

/** The files of a payload as text. */
function build(parts: Partial<PayloadInput> = {}): Record<string, string> {
  const files = [...buildPayload(anInput(parts))].map(([name, bytes]) => [name, Buffer.from(bytes).toString()]);
  return Object.fromEntries(files);
}

/** What a shell makes of a script, each word of `words` on a line of its own. */
function shell(script: string, words: string): string {
  return spawnSync('/bin/sh', ['-c', `${script}\nprintf '%s\\0' ${words}`], { encoding: 'latin1', env: {} }).stdout;
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('buildPayload', () => {
  test('holds every file the wrapper reads, with names that any cluster takes', () => {
    const payload = build({
      setup: ['npm ci', 'npm run build'],
      graders: ['npm test'],
      files: { 'a.txt': 'text', 'b/c.bin': { hex: '00FF' } },
    });

    expect(Object.keys(payload).sort()).toEqual([
      'command',
      'env',
      'file.1',
      'file.2',
      'files',
      'grader.1',
      'settings',
      'setup.1',
      'setup.2',
      'task',
      'wrapper.sh',
    ]);
    expect(Object.keys(payload).every((name) => /^[-._a-zA-Z0-9]+$/.test(name))).toBe(true);
    expect(payload).toMatchObject({
      'wrapper.sh': '#!/bin/sh\n',
      task: 'say hello',
      command: 'my-agent "$EVERDICT_TASK"',
      'setup.2': 'npm run build',
      'grader.1': 'npm test',
      files: '1 text a.txt\n2 hex b/c.bin\n',
      'file.1': 'text',
      'file.2': '00ff\n',
    });
  });

  test('gives the wrapper its settings as words of a shell', () => {
    const { settings = '' } = build({
      caseId: "it's $HOME",
      git: { url: 'https://example.org/a.git', ref: 'main' },
      workDir: '/app',
      setup: ['true'],
      graders: ['true', 'true'],
    });
    const names = [
      'run_id',
      'case_id',
      'setup_count',
      'grader_count',
      'setup_sec',
      'timeout_sec',
      'grader_sec',
      'grace_sec',
    ];
    const more = ['linger_sec', 'work_dir', 'task_in_env', 'needs_git', 'answer_limit', 'usage_limit'];
    const words = [...names, ...more, 'grader_output_limit'].map((name) => `"$${name}"`).join(' ');

    expect(shell(settings, words).split('\0')).toEqual([
      ...['run_1', "it's $HOME", '1', '2', '600', '1800', '300', '2'],
      ...['60', '/app', '1', '1', '262144', '16384', '4096', ''],
    ]);
  });

  test('checks a repository out as step 0 of the setup', () => {
    const { settings, 'setup.0': script = '' } = build({ git: { url: "file:///it's/$here", ref: 'main' } });

    expect(settings).toContain("needs_git='1'\n");
    expect(script).toContain("git fetch -q --depth 1 -- 'file:///it'\\''s/$here' 'main'");
    expect(build()).not.toHaveProperty('setup.0');
  });

  test('exports the variables of the harness, and what the job is told about itself', () => {
    const { env = '' } = build({ env: { TOKEN: "a'b\n$c" }, params: { 'max-steps': 3, fast: true }, model: 'm-1' });
    const names = ['TOKEN', 'EVERDICT_RUN_ID', 'EVERDICT_CASE_ID', 'EVERDICT_PARAM_MAX_STEPS', 'EVERDICT_PARAM_FAST'];
    const words = [...names, 'EVERDICT_MODEL'].map((name) => `"$${name}"`).join(' ');

    expect(shell(env, words).split('\0')).toEqual(["a'b\n$c", 'run_1', 'case-1', '3', 'true', 'm-1', '']);
    expect(build().env).not.toContain('EVERDICT_MODEL');
  });

  test.each([
    ['is in the environment up to 100 KB', 'x'.repeat(102_400), '1'],
    ['comes as a file only above that', 'x'.repeat(102_401), '0'],
    ['is measured in bytes', 'ü'.repeat(51_201), '0'],
  ])('a task %s', (_title, task, expected) => {
    const payload = build({ task });

    expect(shell(payload.settings ?? '', '"$task_in_env"')).toBe(`${expected}\0`);
    expect(payload.task).toBe(task);
  });

  test('writes files of any name, even one that objects have', () => {
    const files = JSON.parse('{"__proto__": "proto", "constructor": "made", "-n": "dash"}');

    expect(build({ files })).toMatchObject({
      files: '1 text __proto__\n2 text constructor\n3 text -n\n',
      'file.1': 'proto',
      'file.2': 'made',
      'file.3': 'dash',
    });
  });

  test('breaks hex into lines a shell can hold', () => {
    const { 'file.1': hex } = build({ files: { a: { hex: 'ab'.repeat(130) } } });

    expect(hex).toBe(`${'ab'.repeat(64)}\n${'ab'.repeat(64)}\nabab\n`);
    expect(build({ files: { empty: { hex: '' } } })).toMatchObject({ 'file.1': '' });
  });

  test('counts bytes, not characters', () => {
    const added =
      payloadBytes(buildPayload(anInput({ task: 'ü' }))) - payloadBytes(buildPayload(anInput({ task: '' })));

    expect(added).toBe(2);
  });
});

describe('quoted', () => {
  test('is one word of a shell, whatever it holds', () => {
    const text = fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', ''));
    fc.assert(
      fc.property(fc.array(text, { minLength: 30, maxLength: 60 }), (words) => {
        expect(shell('', words.map(quoted).join(' '))).toBe(words.map((word) => `${latin1(word)}\0`).join(''));
      }),
      { numRuns: 10 },
    );
  });
});
