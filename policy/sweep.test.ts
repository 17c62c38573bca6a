import { type Allocation, leftoversOf, type Standings } from './sweep.js';

const OPEN: Standings = new Map([['a', 'open']]);
const CLOSED: Standings = new Map([['a', 'closed']]);
const UNKNOWN: Standings = new Map([['b', 'open']]);

test.each<[string, Partial<Allocation>, Standings, string[]]>([
  ['an allocation of an open attempt stays', { madeAt: 0 }, OPEN, []],
  ['also when it should be over', { madeAt: 0, expiresAt: 500 }, OPEN, []],
  ['one of a closed attempt goes', { madeAt: 0, expiresAt: 9_000 }, CLOSED, ['a']],
  ['one of no attempt goes', { madeAt: 0 }, UNKNOWN, ['a']],
  ['one of no attempt that is not over yet stays', { madeAt: 0, expiresAt: 1_001 }, UNKNOWN, []],
  ['one of no attempt that is surely over goes', { madeAt: 0, expiresAt: 1_000 }, UNKNOWN, ['a']],
  ['one that is younger than the grace stays', { madeAt: 950 }, CLOSED, []],
  ['one as old as the grace goes', { madeAt: 900 }, CLOSED, ['a']],
])('%s', (_title, parts, standings, gone) => {
  const allocation = { name: 'a', madeAt: 0, ...parts };
  expect(leftoversOf([allocation], standings, { now: 1_000, graceMs: 100 })).toEqual(gone);
});
