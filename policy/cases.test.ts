import { EvalCase } from '../contracts/case.js';
import { HarnessSpec } from '../contracts/harness.js';
import { caseFaults, harnessFaults } from './cases.js';

const aCase = (parts: object) => EvalCase.parse({ id: 'a', task: 'add', ...parts });
const files = (...paths: string[]) => ({
  env: { kind: 'repo', source: { files: Object.fromEntries(paths.map((path) => [path, ''])) } },
});

describe('caseFaults', () => {
  test.each([
    ['no graders', {}],
    ['a pattern that compiles', { graders: [{ kind: 'regex', pattern: '^\\d+$' }] }],
    ['files side by side', files('a/b', 'a/c', 'ab', 'constructor')],
    [
      'a script that reads a parameter of the harness',
      { graders: [{ kind: 'command', command: 'test $EVERDICT_PARAM_N = 1' }] },
    ],
  ])('are none for %s', (_title, parts) => {
    expect(caseFaults(aCase(parts))).toEqual([]);
  });

  test.each([
    [
      'a pattern that does not compile',
      { graders: [{ kind: 'exit-code' }, { kind: 'regex', pattern: '(' }] },
      'graders[1].pattern',
      'does not compile: missing closing )',
    ],
    [
      'a pattern with lookahead',
      { graders: [{ kind: 'regex', pattern: 'a(?!b)' }] },
      'graders[0].pattern',
      'does not compile',
    ],
    [
      'a variable that does not exist',
      { graders: [{ kind: 'command', command: 'cat $EVERDICT_ANSWER' }] },
      'graders[0].command',
      'did you mean $EVERDICT_ANSWER_FILE?',
    ],
    [
      'setup that reads one',
      { env: { kind: 'repo', source: { files: {} }, setup: ['echo $EVERDICT_X'] } },
      'env.setup[0]',
      '$EVERDICT_X does not exist',
    ],
    ['a file below a file', files('a', 'a/b'), 'env.source.files["a/b"]', 'needs a directory where "a" is a file'],
    ['a file far below a file', files('x/y', 'x/y/z/w'), 'env.source.files["x/y/z/w"]', 'where "x/y" is a file'],
  ])('name %s', (_title, parts, path, message) => {
    expect(caseFaults(aCase(parts))).toEqual([{ path, message: expect.stringContaining(message) }]);
  });
});

describe('harnessFaults', () => {
  const aHarness = (parts: object) =>
    HarnessSpec.parse({ kind: 'command', id: 'h', version: '1', command: 'true', ...parts });

  test('are none for a harness that reads what its jobs have', () => {
    expect(
      harnessFaults(aHarness({ command: 'run $EVERDICT_TASK $EVERDICT_PARAM_N', params: { n: 1, m: 2 } })),
    ).toEqual([]);
  });

  test('name a variable that does not exist', () => {
    expect(harnessFaults(aHarness({ command: 'run $EVERDICT_TSAK' }))).toEqual([
      { path: 'command', message: '$EVERDICT_TSAK does not exist; did you mean $EVERDICT_TASK?' },
    ]);
  });

  test('name parameters that share a variable', () => {
    expect(harnessFaults(aHarness({ params: { 'a-b': 1, A_B: 2 } }))).toEqual([
      { path: 'params.A_B', message: 'is $EVERDICT_PARAM_A_B, as "a-b" is' },
    ]);
  });

  const pooled = (parts: object) => aHarness({ acquire: { capacity: { poll: 'http://pool.test/', ...parts } } });

  test('are none for paths into the answer of a session pool', () => {
    expect(harnessFaults(pooled({ total: '$', used: '$.pools[0]["in use"]' }))).toEqual([]);
  });

  test('name each path that is none', () => {
    expect(harnessFaults(pooled({ total: 'pool[', used: '$.a[b]' }))).toMatchObject([
      { path: 'acquire.capacity.total', message: expect.stringContaining('is no path') },
      { path: 'acquire.capacity.used' },
    ]);
  });
});
