import fc from 'fast-check';
import { nearest } from './nearest.js';

const KEYS = ['id', 'task', 'timeoutSec', 'memoryMb', 'maxConcurrent', 'graders', 'cpu'];

describe('nearest', () => {
  test.each([
    ['a missing letter', 'maxConcurent', 'maxConcurrent'],
    ['swapped letters', 'tsak', 'task'],
    ['another case and dashes', 'MAX-CONCURRENT', 'maxConcurrent'],
    ['an abbreviation', 'timeout', 'timeoutSec'],
    ['a singular', 'grader', 'graders'],
    ['a short word', 'ip', 'id'],
  ])('forgives %s', (_title, word, want) => {
    expect(nearest(word, KEYS)).toBe(want);
  });

  test.each(['hostNetwork', 'x', '', 'a'.repeat(1_000), 'task'])('has nothing to offer for %j', (word) => {
    expect(nearest(word, KEYS)).toBeUndefined();
  });

  test('offers only candidates', () => {
    fc.assert(fc.property(fc.string(), (word) => [undefined, ...KEYS].includes(nearest(word, KEYS))));
  });
});
