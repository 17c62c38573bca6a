import { Dataset } from './dataset.js';
import { fieldErrors } from './issues.js';

const aCase = (id: string) => ({ id, task: 'add' });
const dataset = { id: 'sums', version: '1.0.0', cases: [aCase('a'), aCase('b')] };

function faults(input: unknown): string[] {
  const parsed = Dataset.safeParse(input);
  if (parsed.success) return [];
  return fieldErrors(parsed.error, input, Dataset).map(({ path, message }) => `${path}: ${message}`);
}

describe('Dataset', () => {
  test('accepts cases with ids of their own', () => {
    expect(faults(dataset)).toEqual([]);
  });

  test.each([
    ['no cases', { ...dataset, cases: [] }, 'cases: has no cases'],
    ['no list of cases', { ...dataset, cases: undefined }, 'cases: is required'],
    [
      'a repeated case id',
      { ...dataset, cases: [aCase('a'), aCase('b'), aCase('a')] },
      'cases[2].id: repeats the id of cases[0]',
    ],
    [
      'a case id that is a number',
      { ...dataset, cases: [{ id: 5, task: '' }] },
      'cases[0].id: expected string, received 5',
    ],
    ['a misspelt key', { ...dataset, descripton: 'x' }, 'descripton: is not a known key; did you mean `description`?'],
    [
      'a misspelt key of a case',
      { ...dataset, cases: [{ ...aCase('a'), tsak: 'x' }] },
      'cases[0].tsak: is not a known key',
    ],
    ['the id `__proto__`', { ...dataset, id: '__proto__' }, 'id: is 1 to 63 characters'],
    ['a tag that is empty', { ...dataset, tags: [''] }, 'tags[0]: is empty'],
    ['more tags than 20', { ...dataset, tags: Array(21).fill('x') }, 'tags: has more than 20 tags'],
  ])('refuses %s', (_title, input, want) => {
    expect(faults(input)).toEqual([expect.stringContaining(want)]);
  });

  test('names the first 100 faults and counts the rest', () => {
    const found = faults({ ...dataset, cases: Array.from({ length: 150 }, () => ({ id: 'a' })) });
    expect(found).toHaveLength(101);
    expect(found.at(-1)).toBe(': and 50 more faults');
  });
});
