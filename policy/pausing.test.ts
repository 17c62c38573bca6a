import type { RunErrorCode } from '../contracts/attempt.js';
import { pauseReason } from './pausing.js';

const ends = (infra: number, others: number, code: RunErrorCode = 'NODE_LOST'): (RunErrorCode | null)[] => [
  ...Array.from({ length: infra }, () => code),
  ...Array.from({ length: others }, () => null),
];

test.each<[string, (RunErrorCode | null)[], string | undefined]>([
  ['more than half of ten', ends(6, 4), '6 of its last 10 attempts ended as infrastructure errors: NODE_LOST 6'],
  ['all of ten', ends(10, 0), '10 of its last 10 attempts ended as infrastructure errors: NODE_LOST 10'],
  ['half of ten', ends(5, 5), undefined],
  ['all of nine, which are too few to judge', ends(9, 0), undefined],
  ['eleven of twenty', ends(11, 9), '11 of its last 20 attempts ended as infrastructure errors: NODE_LOST 11'],
  ['ten of twenty', ends(10, 10), undefined],
  ['many, but long ago', [...ends(0, 20), ...ends(30, 0)], undefined],
  ['jobs that cannot work', ends(20, 0, 'BAD_SPEC'), undefined],
  ['agents that time out', ends(20, 0, 'TIMEOUT'), undefined],
  [
    'several codes, named by how many there are',
    [...ends(2, 0, 'EVICTED'), ...ends(7, 1), ...ends(2, 0, 'CLUSTER_AUTH')],
    '11 of its last 12 attempts ended as infrastructure errors: NODE_LOST 7, CLUSTER_AUTH 2, EVICTED 2',
  ],
])('a scorecard whose last attempts had infrastructure errors: %s', (_title, last, reason) => {
  expect(pauseReason(last)).toBe(reason);
});
