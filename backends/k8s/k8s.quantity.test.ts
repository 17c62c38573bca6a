import fc from 'fast-check';
import { parseQuantity, toCount, toMemoryMb, toMillicores } from './k8s.quantity.js';

test.each([
  ['1', 1],
  ['0', 0],
  ['250m', 0.25],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['+2', 2],
  ['-1', -1],
  ['1e3', 1_000],
  ['1E3', 1_000],
  ['12e-1', 1.2],
  ['1E', 1e18],
  ['1k', 1_000],
  ['1Ki', 1_024],
  ['1.5Gi', 1_610_612_736],
  ['2Ei', 2 ** 61],
  ['100n', 1e-7],
  ['16393248Ki', 16_786_685_952],
])('%s is %d', (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});

test.each([
  '',
  ' 1',
  '1 ',
  'Gi',
  '1gi',
  '1KI',
  '1K',
  '1e',
  '1e3Ki',
  '1.2.3',
  '--1',
  '1_000',
  '0x10',
  '1e999',
  'NaN',
  'Infinity',
  '9'.repeat(65),
  '١',
])('%j is no quantity', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test('is shown in the units that runtimes count in', () => {
  expect(['250m', '2', '0.1', '1100u'].map(toMillicores)).toEqual([250, 2_000, 100, 1]);
  expect(['1Gi', '512Mi', '1G', '1048575'].map(toMemoryMb)).toEqual([1_024, 512, 953, 0]);
  expect(['8', '1k', 'many'].map(toCount)).toEqual([8, 1_000, undefined]);
});

test('keeps every whole number of millicores, whichever way it is written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (millicores) => {
      expect(toMillicores(`${millicores}m`)).toBe(millicores);
      expect(toMillicores((millicores / 1_000).toFixed(3))).toBe(millicores);
      expect(toMillicores(`${millicores}e-3`)).toBe(millicores);
    }),
  );
});

test('never throws, and gives a finite number or nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTP ') }), (text) => {
      expect(Number.isFinite(parseQuantity(text) ?? 0)).toBe(true);
    }),
  );
});
