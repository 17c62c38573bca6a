import { driftOf, useOf } from './audit.js';

const NOW = 1_000_000;
const OLD = NOW - 60_000;
const YOUNG = NOW - 59_999;

const lease = (grantedAt: number) => ({ holder: 'case:a', seq: 7, grantedAt });
const attempt = (openedAt: number, closedAt?: number) => ({
  runId: 'a',
  attempt: 1,
  seq: 7,
  demand: {},
  openedAt,
  ...(closedAt !== undefined && { closedAt }),
});

test.each([
  ['a lease with its live attempt is none', [lease(OLD)], [attempt(OLD)], 0, 0],
  ['an old lease without an attempt is one', [lease(OLD)], [], 1, 0],
  ['a lease whose attempt is on its way is none', [lease(YOUNG)], [], 0, 0],
  ['an old lease whose attempt was closed just now is none', [lease(OLD)], [attempt(OLD, YOUNG)], 0, 0],
  ['a lease whose attempt was closed long ago is one', [lease(OLD)], [attempt(OLD, OLD)], 1, 0],
  ['an old live attempt without a lease is one', [], [attempt(OLD)], 0, 1],
  ['a live attempt that was opened after the ledger was read is none', [], [attempt(YOUNG)], 0, 0],
  ['an attempt under another lease than the ledger has is two', [{ ...lease(OLD), seq: 6 }], [attempt(OLD)], 1, 1],
])('drift: %s', (_title, leases, attempts, leasesOff, attemptsOff) => {
  const drift = driftOf(leases, attempts, NOW);
  expect(drift.leasesWithoutAttempt).toHaveLength(leasesOff);
  expect(drift.attemptsWithoutLease).toHaveLength(attemptsOff);
});

test('what is held is a slot each, and what is declared', () => {
  const holders = [{ demand: { memoryMb: 500 } }, { demand: { cpuMillicores: 250, memoryMb: 1 } }, { demand: {} }];
  expect(useOf(holders)).toEqual({ slots: 3, memoryMb: 501, cpuMillicores: 250 });
});
