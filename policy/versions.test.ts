import fc from 'fast-check';
import { compareVersions, latestOf } from './versions.js';

const inOrder = (...versions: string[]) => versions.map((version, index) => ({ version, registeredAt: index }));
const latest = (...versions: string[]) => latestOf(inOrder(...versions))?.version;

describe('latestOf', () => {
  test.each([
    ['the highest semver, not the last', ['2.0.0', '10.0.0', '9.9.9'], '10.0.0'],
    ['a release before its pre-releases', ['1.0.0', '1.0.0-rc.1'], '1.0.0'],
    ['pre-releases by number', ['1.0.0-rc.9', '1.0.0-rc.10', '1.0.0-rc.2'], '1.0.0-rc.10'],
    ['text parts above numbers', ['1.0.0-alpha', '1.0.0-1'], '1.0.0-alpha'],
    ['the longer pre-release', ['1.0.0-alpha.1', '1.0.0-alpha'], '1.0.0-alpha.1'],
    ['semver above everything else', ['0.0.1', 'v9', '2026-01-01', '1.0'], '0.0.1'],
    ['the last registered of the rest', ['v9', 'v10', 'v2'], 'v2'],
    ['the last registered of builds of one version', ['1.0.0+b', '1.0.0+a'], '1.0.0+a'],
    ['numbers of any size', ['1.0.90071992547409930', '1.0.90071992547409931', '1.0.9'], '1.0.90071992547409931'],
    ['leading zeros as no semver', ['0.0.1', '01.0.0', '1.0.0-01'], '0.0.1'],
  ])('takes %s', (_title, versions, want) => {
    expect(latest(...versions)).toBe(want);
  });

  test('of nothing is nothing', () => {
    expect(latestOf([])).toBeUndefined();
  });
});

describe('compareVersions', () => {
  const part = fc.constantFrom('0', '1', '2', '10');
  const suffix = fc.constantFrom('', '', '-a', '-a.1', '-1', '-1.a', '-01', '+x', '-a+y');
  const version = fc.oneof(
    fc.tuple(part, part, part, suffix).map(([a, b, c, end]) => `${a}.${b}.${c}${end}`),
    fc.constantFrom('v1', 'v2', '1.0', 'x', '1.0.0.0'),
  );
  const registered = fc.record({ version, registeredAt: fc.integer({ min: 0, max: 3 }) });

  test('is a total order', () => {
    fc.assert(
      fc.property(registered, registered, registered, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) || 0);
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
        expect(compareVersions(a, b) === 0).toBe(a.version === b.version && a.registeredAt === b.registeredAt);
      }),
      { numRuns: 2_000 },
    );
  });

  test('follows the example of the specification', () => {
    const rising = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
    ];
    const list = inOrder(...rising.toReversed());
    expect(list.toSorted(compareVersions).map(({ version: text }) => text)).toEqual(rising);
  });
});
