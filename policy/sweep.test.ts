import { leftoversOf } from './sweep.js';

test.each([
  ['an allocation of an open attempt stays', { madeAt: 0 }, ['a'], []],
  ['one of no open attempt goes', { madeAt: 0 }, ['b'], ['a']],
  ['one that is younger than the grace stays', { madeAt: 950 }, [], []],
  ['one as old as the grace goes', { madeAt: 900 }, [], ['a']],
])('%s', (_title, { madeAt }, open, gone) => {
  expect(leftoversOf([{ name: 'a', madeAt }], new Set(open), { now: 1_000, graceMs: 100 })).toEqual(gone);
});
