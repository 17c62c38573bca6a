import fc from 'fast-check';
import { jsonFaults } from './clean-json.js';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('jsonFaults', () => {
  test.each([
    [
      'a NUL in a value',
      { cases: [{}, { task: 'a\0b' }] },
      [{ path: 'cases[1].task', message: 'has a NUL character' }],
    ],
    ['a NUL in a key', { 'a\0': 1 }, [{ path: '', message: 'the key "a\\u0000" has a NUL character' }]],
    ['half a surrogate pair', { a: 'x\ud83d' }, [{ path: 'a', message: expect.stringContaining('not valid Unicode') }]],
    [
      'half a surrogate pair in a key',
      { '\udc00': 1 },
      [{ path: '', message: expect.stringContaining('not valid Unicode') }],
    ],
    [
      'an own `__proto__`',
      JSON.parse('{"env":{"__proto__":{"admin":true}}}'),
      [{ path: 'env', message: 'the key "__proto__" is not allowed as a key' }],
    ],
    ['101 levels', nested(101), [{ path: expect.any(String), message: 'is nested more than 100 levels deep' }]],
    [
      'what is no JSON',
      { body: new URL('http://a') },
      [{ path: 'body', message: 'is no JSON value: send application/json' }],
    ],
    ['a bare text', '\0', [{ path: '', message: 'has a NUL character' }]],
  ])('finds %s', (_title, input, want) => {
    expect(jsonFaults(input)).toEqual(want);
  });

  test.each([
    ['whole surrogate pairs and other controls', { '😀': 'a\u0001\n😀' }],
    ['`constructor` as a name', { constructor: { prototype: 1 } }],
    ['100 levels', nested(100)],
    ['nothing', null],
  ])('leaves %s alone', (_title, input) => {
    expect(jsonFaults(input)).toEqual([]);
  });

  test('finds something exactly when a text of the input cannot be stored or a key is `__proto__`', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(value);
        const isBad = /(?<!\\)(\\\\)*\\u(0000|d[89a-f])/.test(text) || /"__proto__":/.test(text);
        expect(jsonFaults(value).length > 0).toBe(isBad);
      }),
    );
  });

  test('stops at 100 faults', () => {
    expect(jsonFaults(Array(1_000).fill('\0'))).toHaveLength(100);
  });
});
