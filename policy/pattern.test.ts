import fc from 'fast-check';
import { compileFault, search } from './pattern.js';

describe('compileFault', () => {
  test.each(['a', '^(a|b)*$', '\\p{Greek}', '(?P<n>x)', '[[:alpha:]]', '.{0,700}'])('takes %j', (pattern) => {
    expect(compileFault(pattern)).toBeUndefined();
  });

  test.each([
    ['(', 'does not compile: missing closing )'],
    ['a(?=b)', 'does not compile: invalid or unsupported Perl syntax'],
    ['\\1', 'does not compile: invalid escape sequence'],
    ['a{1001}', 'does not compile: invalid repeat count'],
    ['(.{1000}){1}.{1000}', 'instructions, more than the allowed 1500'],
  ])('refuses %j', (pattern, want) => {
    expect(compileFault(pattern)).toContain(want);
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (pattern) =>
        ['string', 'undefined'].includes(typeof compileFault(pattern)),
      ),
    );
  });
});

describe('search', () => {
  test('finds the end of the first match', () => {
    expect(search('b+', 'abbcb')).toEqual({ end: 3 });
    expect(search('x', 'abbcb')).toBeUndefined();
  });

  test('reports a pattern that cannot be used', () => {
    expect(search('(', '')).toEqual({ fault: expect.stringContaining('does not compile') });
  });
});
