import fc from 'fast-check';
import { RunId, ScorecardId } from '../contracts/ids.js';
import { newId } from './ids.js';

describe('newId', () => {
  test('makes ids that the contracts accept', () => {
    expect(ScorecardId.safeParse(newId('sc')).success).toBe(true);
    expect(RunId.safeParse(newId('run')).success).toBe(true);
    expect(RunId.safeParse(`${newId('sc')}.99999`).success).toBe(true);
  });

  test('orders by time', () => {
    const ms = fc.integer({ min: 0, max: 2 ** 48 - 2 });
    fc.assert(fc.property(ms, (now) => expect(newId('sc', now) < newId('sc', now + 1)).toBe(true)));
  });

  test('never makes one twice', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => newId('run', 1))).size).toBe(10_000);
  });
});
