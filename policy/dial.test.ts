import type { DialChange } from '../contracts/dial.js';
import { limitsAbove, OPEN, type SetDial, turned } from './dial.js';

const NOW = Date.UTC(2027, 0, 1);
const MINUTE = 60_000;
const ISO = '2027-01-01T00:10:00Z';
const limited: SetDial = { mode: 'open', limits: { slots: 2, memoryMb: 500 }, limitsUntil: NOW + MINUTE, by: 'ada' };

describe('a dial that is turned', () => {
  test.each<[string, SetDial, DialChange, SetDial]>([
    ['pauses until somebody says otherwise', OPEN, { mode: 'paused' }, { mode: 'paused', limits: {}, by: 'bob' }],
    [
      'ends after so many seconds',
      OPEN,
      { mode: 'paused', forSec: 60 },
      { mode: 'paused', limits: {}, until: NOW + MINUTE, by: 'bob' },
    ],
    [
      'ends at a time, and says why',
      OPEN,
      { limits: { slots: 1 }, until: ISO, reason: 'new disks' },
      { mode: 'open', limits: { slots: 1 }, limitsUntil: NOW + 10 * MINUTE, reason: 'new disks', by: 'bob' },
    ],
    [
      'keeps lower limits and their end while it is paused for good',
      limited,
      { mode: 'paused' },
      { mode: 'paused', limits: limited.limits, limitsUntil: NOW + MINUTE, by: 'bob' },
    ],
    [
      'keeps limits for good while it is paused for a while',
      { mode: 'open', limits: { slots: 2 } },
      { mode: 'paused', forSec: 4 },
      { mode: 'paused', limits: { slots: 2 }, until: NOW + 4_000, by: 'bob' },
    ],
    [
      'keeps the end of its pause while it is limited for good',
      { mode: 'paused', limits: {}, until: NOW + 4_000 },
      { limits: { slots: 2 } },
      { mode: 'paused', limits: { slots: 2 }, until: NOW + 4_000, by: 'bob' },
    ],
    [
      'ends both where an end alone is said',
      { ...limited, mode: 'paused' },
      { forSec: 1 },
      { mode: 'paused', limits: limited.limits, until: NOW + 1_000, limitsUntil: NOW + 1_000, by: 'bob' },
    ],
    [
      'changes one limit, and takes another back',
      limited,
      { limits: { slots: 1, memoryMb: null }, forSec: 1 },
      { mode: 'open', limits: { slots: 1 }, limitsUntil: NOW + 1_000, by: 'bob' },
    ],
    ['keeps its end where only the reason is new', limited, { reason: 'x' }, { ...limited, reason: 'x', by: 'bob' }],
    ['loses its end', limited, { until: null }, { mode: 'open', limits: limited.limits, by: 'bob' }],
    ['is taken back', limited, { mode: 'open' }, OPEN],
    ['is taken back with its last limit', limited, { limits: null }, OPEN],
    ['is nothing without mode and limits', OPEN, { reason: 'x', forSec: 9 }, OPEN],
    [
      'stays paused where its limits go',
      { ...limited, mode: 'paused' },
      { limits: null },
      { mode: 'paused', limits: {}, by: 'bob' },
    ],
  ])('%s', (_title, before, change, after) => {
    expect(turned(before, change, 'bob', NOW)).toEqual(after);
  });
});

test('limits above those of the runtime are named with both numbers', () => {
  const envelope = { slots: 4, memoryMb: 1_000 };
  const asked = { limits: { slots: 5, memoryMb: 1_000, cpuMillicores: 9_000 } };
  expect(limitsAbove(asked, envelope)).toEqual([{ axis: 'slots', asked: 5, own: 4 }]);
  expect(limitsAbove({ limits: null }, envelope)).toEqual([]);
});
