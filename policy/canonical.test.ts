import fc from 'fast-check';
import { canonicalJson } from './canonical.js';

/** The same content with the keys of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, child]) => [key, reversed(child)]),
  );
}

describe('canonicalJson', () => {
  test.each([
    ['sorts keys at every level', { b: [{ d: 1, c: 2 }], a: null }, '{"a":null,"b":[{"c":2,"d":1}]}'],
    ['keeps the order of items', [2, 1], '[2,1]'],
    ['leaves absent properties out', { a: undefined, b: 1 }, '{"b":1}'],
    ['ignores inherited properties', Object.create({ a: 1 }), '{}'],
    ['keeps an own `__proto__`', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ])('%s', (_title, value, want) => {
    expect(canonicalJson(value)).toBe(want);
  });

  test('is equal for equal content, and reads back as it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
