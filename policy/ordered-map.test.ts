import fc from 'fast-check';
import { OrderedMap } from './ordered-map.js';

const change = fc.record({
  kind: fc.constantFrom('set' as const, 'delete' as const, 'copy' as const),
  key: fc.integer({ min: 0, max: 40 }).map(String),
  value: fc.nat(),
});

test('behaves like a `Map`, and a copy stays as it was', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30 }), fc.array(change, { maxLength: 80 }), (size, changes) => {
      const entries = Array.from({ length: size }, (_, i) => [String(i), i] as const);
      const [plain, map] = [new Map<string, number>(entries), OrderedMap.from(entries)];
      const copies: [OrderedMap<number>, [string, number][]][] = [];
      for (const { kind, key, value } of changes) {
        if (kind === 'set') {
          plain.set(key, value);
          map.set(key, value);
        } else if (kind === 'delete') {
          plain.delete(key);
          map.delete(key);
        } else copies.push([map.copy(), [...plain]]);
        expect([...map]).toEqual([...plain]);
        expect([map.size, map.get(key), map.has(key)]).toEqual([plain.size, plain.get(key), plain.has(key)]);
      }
      for (const [copy, want] of copies) expect([...copy]).toEqual(want);
      expect([[...map.keys()], [...map.values()]]).toEqual([[...plain.keys()], [...plain.values()]]);
    }),
  );
});
