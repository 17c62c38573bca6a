import fc from 'fast-check';
import { z } from 'zod';
import { EvalCase } from './case.js';
import { Dataset } from './dataset.js';
import { HarnessSpec } from './harness.js';
import { fieldErrors } from './issues.js';
import { RuntimeSpec } from './runtime.js';
import { RunRequest, ScorecardRequest } from './scorecard.js';

const Shape = z.strictObject({
  count: z.int().max(9),
  name: z.string().min(2),
  of: z.union([z.string(), z.strictObject({ hex: z.string() }), z.strictObject({ git: z.string(), ref: z.string() })]),
  by: z.record(z.string().regex(/^[a-z]+$/, 'is not a name'), z.number()),
});

function errorsOf(input: unknown, withInput = true) {
  const { error } = Shape.safeParse(input);
  if (!error) return [];
  return withInput ? fieldErrors(error, input, Shape) : fieldErrors(error);
}

const good = { count: 1, name: 'ab', of: 'x', by: {} };

describe('fieldErrors', () => {
  test.each([
    [
      'every unknown key of its own',
      { ...good, cuont: 1, nmae: 2 },
      ['cuont: is not a known key', 'nmae: is not a known key'],
    ],
    [
      'a key that is missing where a near one is given',
      { count: 1, nmae: 'x', of: 'x', by: {} },
      ['name: is required', 'nmae: is not a known key; did you mean `name`?'],
    ],
    ['a number beyond its range with both numbers', { ...good, count: 10 }, ['count: is 10, more than the allowed 9']],
    [
      'a text too short with both numbers',
      { ...good, name: 'a' },
      ['name: has 1 characters, less than the required 2'],
    ],
    ['a wrong type', { ...good, name: [] }, ['name: expected string, received array']],
    ['null', { ...good, name: null }, ['name: expected string, received null']],
    ['the branch of a union that was meant', { ...good, of: { git: 'x' } }, ['of.ref: is required']],
    ['a fault inside the branch that was meant', { ...good, of: { hex: 5 } }, ['of.hex: expected string, received 5']],
    ['all branches when none was meant', { ...good, of: 5 }, ['of: expected string or object, received 5']],
    ['a key of a record', { ...good, by: { A1: 1 } }, ['by.A1: key is not a name']],
    ['a name that needs quotes', { ...good, 'a "b': 1 }, ['["a \\"b"]: is not a known key']],
  ])('names %s', (_title, input, want) => {
    const found = errorsOf(input).map(({ path, message }) => `${path}: ${message}`);
    expect(found.toSorted()).toEqual(want.toSorted());
  });

  test('says what it can when it is not given the input', () => {
    const found = errorsOf({ count: 'x', nmae: 1, of: 5, by: {} }, false);
    expect(found).toEqual([
      { path: 'count', message: 'expected number' },
      { path: 'name', message: 'is required' },
      { path: 'of', message: 'expected string or object' },
      { path: 'nmae', message: 'is not a known key' },
    ]);
  });

  test('has a place and plain words for whatever any contract refuses', () => {
    const schemas = [EvalCase, Dataset, HarnessSpec, RuntimeSpec, ScorecardRequest, RunRequest];
    const keys = [
      'kind',
      'id',
      'env',
      'source',
      'files',
      'graders',
      'cases',
      'network',
      'params',
      'acquire',
      'capacity',
    ];
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('repo', 'local', 'nomad', 'command', 'equals', 'x', 1, null, true),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...keys), tie('node')),
      ),
    })).node;
    fc.assert(
      fc.property(fc.constantFrom(...schemas), tree, (schema, input) => {
        const { error } = schema.safeParse(input);
        if (!error) return;
        const found = fieldErrors(error, input, schema);
        expect(found.length).toBeGreaterThan(0);
        for (const { message } of found)
          expect(message).toMatch(/^(?!.*(undefined|\[object|NaN|Invalid|Unrecognized)).{4,500}$/);
      }),
      { numRuns: 500 },
    );
  });
});
