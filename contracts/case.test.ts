import { EvalCase } from './case.js';
import { fieldErrors } from './issues.js';

const aCase = { id: 'a', task: 'add', env: { kind: 'prompt' } };
const repo = (source: unknown) => ({ ...aCase, env: { kind: 'repo', source } });
const grader = (one: unknown) => ({ ...aCase, graders: [one] });

function faults(input: unknown): string[] {
  const parsed = EvalCase.safeParse(input);
  if (parsed.success) return [];
  return fieldErrors(parsed.error, input, EvalCase).map(({ path, message }) => `${path}: ${message}`);
}

describe('EvalCase', () => {
  test.each([
    ['an id with slashes', { ...aCase, id: 'HumanEval/0' }],
    ['an id of 512 characters outside the basic plane', { ...aCase, id: '😀'.repeat(512) }],
    ['the id `__proto__`, which is only a name here', { ...aCase, id: '__proto__' }],
    ['files as text and as hex', repo({ files: { 'a.py': 'x = 1\n', 'bin/b': { hex: '00fF' } } })],
    ['a git repository', repo({ git: 'https://git.example.test/x.git', ref: 'main' })],
    ['a repository by ssh user', repo({ git: 'ssh://git@git.example.test/x.git', ref: 'v1' })],
    ['a desktop', { ...aCase, env: { kind: 'os-use', os: 'windows' } }],
    ['a browser', { ...aCase, env: { kind: 'browser', startUrl: 'https://example.test/' } }],
    ['an allowlist', { ...aCase, network: { mode: 'allowlist', allowedHosts: ['example.test'] } }],
    ['a placement', { ...aCase, placement: { target: 'rack-a@1.0.0', os: 'linux', isolation: 'sandbox' } }],
    ['any reference answer', { ...aCase, expected: { a: [1, null] } }],
    [
      'two graders of a kind with ids',
      {
        ...aCase,
        graders: [
          { id: 'x', kind: 'contains', value: 'a' },
          { kind: 'contains', value: 'b' },
        ],
      },
    ],
    ['a path with quoted names', grader({ kind: 'json', path: '$.a[0]["x y"]["\\u0041\\""]', value: null })],
  ])('accepts %s', (_title, input) => {
    expect(faults(input)).toEqual([]);
  });

  test.each([
    ['an empty id', { ...aCase, id: '' }, 'id: is empty'],
    ['an id of 513 characters', { ...aCase, id: 'x'.repeat(513) }, 'id: is longer than 512 characters'],
    ['an id with a tab', { ...aCase, id: 'a\tb' }, 'id: has a control character'],
    [
      'an id that is half a character',
      { ...aCase, id: '\ud800' },
      'id: has a control character or is not valid Unicode',
    ],
    ['no task', { ...aCase, task: undefined }, 'task: is required'],
    ['a misspelt key', { ...aCase, timeout: 5 }, 'timeout: is not a known key; did you mean `timeoutSec`?'],
    [
      'a time-out of more than a day',
      { ...aCase, timeoutSec: 86_401 },
      'timeoutSec: is 86401, more than the allowed 86400',
    ],
    [
      'an unknown environment',
      { ...aCase, env: { kind: 'repos' } },
      'env.kind: expected one of prompt, repo, browser, os-use, received "repos"; did you mean `repo`?',
    ],
    ['a misspelt source', repo({ gti: 'https://x.test/y', ref: 'main' }), 'env.source.git: is required'],
    ['a source that is text', repo('https://x.test/y'), 'env.source: expected object, received "https://x.test/y"'],
    [
      'a git URL with a password',
      repo({ git: 'https://me:pw@x.test/y', ref: 'main' }),
      'env.source.git: holds a credential',
    ],
    [
      'a ref that is an option',
      repo({ git: 'https://x.test/y', ref: '--upload-pack=x' }),
      'env.source.ref: is not a branch',
    ],
    [
      'an absolute path',
      repo({ files: { '/etc/passwd': '' } }),
      'env.source.files["/etc/passwd"]: key is not a relative path',
    ],
    [
      'a path that climbs',
      repo({ files: { 'a/../../b': '' } }),
      'env.source.files["a/../../b"]: key is not a relative path',
    ],
    ['odd hex', repo({ files: { a: { hex: 'abc' } } }), 'env.source.files.a.hex: is not hex'],
    ['a number as a file', repo({ files: { a: 5 } }), 'env.source.files.a: expected string or object, received 5'],
    [
      'hosts without an allowlist',
      { ...aCase, network: { mode: 'none', allowedHosts: ['x'] } },
      'network.allowedHosts: goes with mode `allowlist`',
    ],
    [
      'an allowlist without hosts',
      { ...aCase, network: { mode: 'allowlist' } },
      'network.allowedHosts: goes with mode `allowlist`',
    ],
    [
      'a misspelt axis',
      { ...aCase, resources: { memory: 5 } },
      'resources.memory: is not a known key; did you mean `memoryMb`?',
    ],
    ['half a GPU', { ...aCase, resources: { gpu: 0.5 } }, 'resources.gpu: expected whole number, received 0.5'],
    [
      'a target that is no reference',
      { ...aCase, placement: { target: 'Rack A' } },
      'placement.target: is `id` or `id@version`',
    ],
    [
      'two graders of a kind without ids',
      { ...aCase, graders: [{ kind: 'exit-code' }, { kind: 'exit-code' }] },
      'graders: grader ids must be unique',
    ],
  ])('refuses %s', (_title, input, want) => {
    expect(faults(input)).toContainEqual(expect.stringContaining(want));
  });

  test.each([
    [
      'an unknown kind',
      { kind: 'equal', value: 'x' },
      'graders[0].kind: expected one of exit-code, equals, contains, regex, json, numeric, command, received "equal"; did you mean `equals`?',
    ],
    ['no kind', { value: 'x' }, 'graders[0].kind: expected one of'],
    ['no value', { kind: 'equals' }, 'graders[0].value: is required'],
    ['a key of another kind', { kind: 'equals', value: 'x', pattern: 'y' }, 'graders[0].pattern: is not a known key'],
    [
      'a misspelt key',
      { kind: 'numeric', value: 1, tolerence: 1 },
      'graders[0].tolerence: is not a known key; did you mean `tolerance`?',
    ],
    [
      'an exit code of 256',
      { kind: 'exit-code', expected: 256 },
      'graders[0].expected: is 256, more than the allowed 255',
    ],
    [
      'a negative tolerance',
      { kind: 'numeric', value: 1, tolerance: -1 },
      'graders[0].tolerance: is -1, less than the required 0',
    ],
    ['an empty pattern', { kind: 'regex', pattern: '' }, 'graders[0].pattern: is empty'],
    ['a path that is none', { kind: 'json', path: '$.a[b]', value: 1 }, 'graders[0].path: is a path like'],
    ['a path with a bad escape', { kind: 'json', path: '$["\\q"]', value: 1 }, 'graders[0].path: is a path like'],
    ['private files', { kind: 'command', command: 'x', files: {} }, 'graders[0]: graders with private material'],
    ['a private environment', { kind: 'equals', value: 'x', env: {} }, 'need a separate verifier'],
  ])('refuses a grader with %s', (_title, one, want) => {
    expect(faults(grader(one))).toContainEqual(expect.stringContaining(want));
  });

  test('fills in what is absent', () => {
    const parsed = EvalCase.parse({
      id: 'a',
      task: '',
      graders: [{ kind: 'numeric', value: 1 }, { kind: 'exit-code' }],
    });
    expect(parsed).toEqual({
      id: 'a',
      task: '',
      env: { kind: 'prompt' },
      graders: [
        { id: 'numeric', kind: 'numeric', value: 1, tolerance: 0 },
        { id: 'exit-code', kind: 'exit-code', expected: 0 },
      ],
      timeoutSec: 1_800,
      tags: [],
    });
  });

  test('accepts its own output unchanged', () => {
    const parsed = EvalCase.parse(grader({ kind: 'regex', pattern: 'x' }));
    expect(EvalCase.parse(parsed)).toEqual(parsed);
  });
});
