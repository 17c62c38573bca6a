import { HarnessSpec } from './harness.js';
import { fieldErrors } from './issues.js';

const harness = { kind: 'command', id: 'solve', version: '1.0.0', command: 'python3 main.py' };

function faults(input: unknown): string[] {
  const parsed = HarnessSpec.safeParse(input);
  if (parsed.success) return [];
  return fieldErrors(parsed.error, input, HarnessSpec).map(({ path, message }) => `${path}: ${message}`);
}

describe('HarnessSpec', () => {
  test.each([
    ['a command', harness],
    ['a process', { kind: 'process', id: 'p', version: '1', entrypoint: ['/bin/agent', '--once'] }],
    ['a service', { kind: 'service', id: 's', version: '1' }],
    ['text and secrets as environment', { ...harness, env: { LANG: 'C', KEY: { secretRef: 'MODEL_KEY' } } }],
    ['names that objects inherit', { ...harness, env: { toString: 'x' }, params: { constructor: 'x', valueOf: 1 } }],
    ['parameters of every type', { ...harness, params: { 'max-steps': 3, mode: 'fast', dry: false } }],
    [
      'a live pool',
      { ...harness, acquire: { capacity: { poll: 'http://pool.example.test/', total: 'max_browsers' } } },
    ],
  ])('accepts %s', (_title, input) => {
    expect(faults(input)).toEqual([]);
  });

  test.each([
    ['no kind', { ...harness, kind: undefined }, 'kind: expected one of command, process, service'],
    ['no command', { ...harness, command: undefined }, 'command: is required'],
    ['an empty command', { ...harness, command: '' }, 'command: is empty'],
    ['setup that is no list', { ...harness, setup: 'make' }, 'setup: expected array, received string'],
    ['a misspelt key', { ...harness, comand: 'x' }, 'comand: is not a known key'],
    ['an id in capitals', { ...harness, id: 'Solve' }, 'id: is 1 to 63 characters'],
    ['a variable with a dash', { ...harness, env: { 'A-B': 'x' } }, 'env.A-B: key is not an environment variable name'],
    ['a variable of the platform', { ...harness, env: { EVERDICT_TASK: 'x' } }, 'env.EVERDICT_TASK: key is reserved'],
    [
      'a misspelt secret',
      { ...harness, env: { A: { secretref: 'x' } } },
      'env.A.secretref: is not a known key; did you mean `secretRef`?',
    ],
    [
      'a list as a parameter',
      { ...harness, params: { a: [1] } },
      'params.a: expected string or number or boolean, received array',
    ],
    ['a work directory with a line feed', { ...harness, workDir: 'a\nb' }, 'workDir: has a control character'],
    ['an empty entrypoint', { kind: 'process', id: 'p', version: '1', entrypoint: [] }, 'entrypoint: is empty'],
    [
      'a pool without a total',
      { ...harness, acquire: { capacity: { poll: 'http://x.test/' } } },
      'acquire.capacity.total: is required',
    ],
  ])('refuses %s', (_title, input, want) => {
    expect(faults(input)).toContainEqual(expect.stringContaining(want));
  });

  test('accepts its own output unchanged', () => {
    const parsed = HarnessSpec.parse(harness);
    expect(parsed).toEqual({ ...harness, tags: [], env: {}, params: {}, setup: [] });
    expect(HarnessSpec.parse(parsed)).toEqual(parsed);
  });
});
