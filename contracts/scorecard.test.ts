import { fieldErrors } from './issues.js';
import { RunRequest, ScorecardRequest } from './scorecard.js';

const scorecard = { dataset: 'sums', harness: 'solve@1.0.0', runtime: 'desk' };
const run = { case: { id: 'a', task: 'add' }, harness: 'solve', runtime: 'desk' };

function faults(schema: typeof ScorecardRequest | typeof RunRequest, input: unknown): string[] {
  const parsed = schema.safeParse(input);
  if (parsed.success) return [];
  return fieldErrors(parsed.error, input, schema).map(({ path, message }) => `${path}: ${message}`);
}

describe('ScorecardRequest', () => {
  test('fills in what is absent', () => {
    expect(ScorecardRequest.parse(scorecard)).toEqual({
      ...scorecard,
      trials: 1,
      class: 'batch',
      infraRetries: 2,
      metadata: {},
    });
  });

  test.each([
    ['`latest`', { ...scorecard, dataset: 'sums@latest' }],
    ['no runtime', { dataset: 'sums', harness: 'solve' }],
    ['a filter', { ...scorecard, cases: { ids: ['HumanEval/0'], tags: ['easy'], limit: 5 } }],
    ['where it comes from', { ...scorecard, metadata: { sha: 'abc', branch: 'main' } }],
  ])('accepts %s', (_title, input) => {
    expect(faults(ScorecardRequest, input)).toEqual([]);
  });

  test.each([
    ['no dataset', { ...scorecard, dataset: undefined }, 'dataset: is required'],
    ['a reference in capitals', { ...scorecard, harness: 'Solve' }, 'harness: is `id` or `id@version`'],
    ['the id `__proto__`', { ...scorecard, dataset: '__proto__' }, 'dataset: is `id` or `id@version`'],
    ['no trials', { ...scorecard, trials: 0 }, 'trials: is 0, less than the required 1'],
    [
      'an unknown class',
      { ...scorecard, class: 'urgent' },
      'class: expected one of interactive, batch, received "urgent"',
    ],
    ['a limit of 0', { ...scorecard, cases: { limit: 0 } }, 'cases.limit: is 0, less than the required 1'],
    ['a misspelt key', { ...scorecard, trails: 2 }, 'trails: is not a known key; did you mean `trials`?'],
    [
      'a misspelt filter',
      { ...scorecard, cases: { tag: ['x'] } },
      'cases.tag: is not a known key; did you mean `tags`?',
    ],
  ])('refuses %s', (_title, input, want) => {
    expect(faults(ScorecardRequest, input)).toEqual([expect.stringContaining(want)]);
  });
});

describe('RunRequest', () => {
  test.each([
    ['a case of its own', run],
    ['a case of a dataset', { dataset: 'sums', caseId: 'a', harness: 'solve', runtime: 'desk' }],
  ])('accepts %s', (_title, input) => {
    expect(faults(RunRequest, input)).toEqual([]);
  });

  test.each([
    ['no case at all', { ...run, case: undefined }],
    ['a dataset without a case id', { ...run, case: undefined, dataset: 'sums' }],
    ['a case id without a dataset', { ...run, case: undefined, caseId: 'a' }],
    ['a case and a dataset', { ...run, dataset: 'sums', caseId: 'a' }],
  ])('refuses %s', (_title, input) => {
    expect(faults(RunRequest, input)).toEqual([': give either `case`, or `dataset` with `caseId`']);
  });

  test('names a fault inside its own case', () => {
    expect(faults(RunRequest, { ...run, case: { id: 'a', tsk: '' } })).toContain(
      'case.tsk: is not a known key; did you mean `task`?',
    );
  });
});
