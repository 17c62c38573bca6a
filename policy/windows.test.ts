import fc from 'fast-check';
import { inFlightBudget, MAX_OPEN_WINDOWS, MAX_WINDOW_WIDTH, type OpenWindow, shareWidth } from './windows.js';

const aWindow = (index: number, width: number, isDrained = false): OpenWindow => ({ index, width, isDrained });

test.each([
  ['a small pool still gets twenty', { slots: 4 }, 20],
  ['twice the slots', { slots: 40 }, 80],
  ['never more than the concurrency asked for', { slots: 40, concurrency: 3 }, 3],
  ['never more than all windows hold', { slots: 100_000 }, 5_000],
])('%s', (_title, limits, budget) => {
  expect(inFlightBudget(limits)).toBe(budget);
});

test.each<[string, OpenWindow[], number, number[], ReturnType<typeof shareWidth>]>([
  [
    'opens as many windows as the budget fills',
    [],
    250,
    [0, 1, 2, 3],
    {
      open: [
        { index: 0, width: 100 },
        { index: 1, width: 100 },
        { index: 2, width: 50 },
      ],
      widen: [],
    },
  ],
  [
    'gives what a drained window returned to the next',
    [aWindow(0, 5, true)],
    20,
    [1],
    { open: [{ index: 1, width: 15 }], widen: [] },
  ],
  [
    'widens before it opens',
    [aWindow(0, 5, true), aWindow(1, 5)],
    20,
    [2],
    { open: [], widen: [{ index: 1, width: 15 }] },
  ],
  ['does nothing while the budget is used up', [aWindow(0, 20)], 20, [1], { open: [], widen: [] }],
  ['waits if the budget fell below what is open', [aWindow(0, 20)], 4, [1], { open: [], widen: [] }],
])('%s', (_title, windows, budget, unopened, want) => {
  expect(shareWidth(windows, budget, unopened)).toEqual(want);
});

test('a window that somebody waits for opens at once, with what is free or beyond the budget', () => {
  expect(shareWidth([aWindow(0, 20)], 20, [7, 1], 1)).toEqual({ open: [{ index: 7, width: 1 }], widen: [] });
  expect(shareWidth([aWindow(0, 10, true)], 20, [7, 1], 1)).toEqual({ open: [{ index: 7, width: 10 }], widen: [] });
});

test('the widths together never exceed the budget, nor one its most', () => {
  const window = fc.record({ width: fc.integer({ min: 0, max: 100 }), isDrained: fc.boolean() });
  fc.assert(
    fc.property(fc.array(window, { maxLength: 60 }), fc.integer({ min: 1, max: 5_000 }), (open, budget) => {
      const windows = open.map((parts, index) => ({ index, ...parts }));
      const step = shareWidth(windows, budget, [100, 101, 102]);
      const widths = new Map(windows.map(({ index, width }) => [index, width]));
      const before = [...widths.values()].reduce((sum, width) => sum + width, 0);
      for (const { index, width } of [...step.widen, ...step.open]) widths.set(index, width);
      const after = [...widths.values()].reduce((sum, width) => sum + width, 0);
      expect(after).toBeLessThanOrEqual(Math.max(before, budget));
      expect(Math.max(0, ...widths.values())).toBeLessThanOrEqual(MAX_WINDOW_WIDTH);
      const active = windows.filter(({ isDrained }) => !isDrained).length;
      expect(active + step.open.length).toBeLessThanOrEqual(Math.max(active, MAX_OPEN_WINDOWS));
    }),
  );
});
