import fc from 'fast-check';
import { allocationName, isAllocationOf } from './naming.js';

const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

const id = fc.array(fc.constantFrom(...BASE32), { minLength: 26, maxLength: 26 }).map((digits) => digits.join(''));
const ordinal = fc.integer({ min: 0, max: 999_999 });
const runId = fc.oneof(
  fc.tuple(id, ordinal).map(([scorecard, n]) => `sc_${scorecard}.${n}`),
  id.map((run) => `run_${run}`),
);
const deployment = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$/);
const input = fc.record({ deployment, runId, attempt: fc.integer({ min: 1, max: 999_999 }) });

describe('allocationName', () => {
  test('says whose it is', () => {
    expect(allocationName('everdict', `sc_${'0'.repeat(26)}.7`, 2)).toBe(`everdict-sc-${'0'.repeat(26)}-7-2`);
  });

  test('leaves room in 63 characters for the longest parts', () => {
    expect(allocationName('d'.repeat(16), `sc_${'z'.repeat(26)}.99999`, 11)).toHaveLength(55);
  });

  test('is a DNS label', () => {
    fc.assert(fc.property(input, (a) => DNS_LABEL.test(allocationName(a.deployment, a.runId, a.attempt))));
  });

  test('differs wherever anything differs, also across a deployment named like a run', () => {
    const hostile = fc.constantFrom('a', 'a-sc', 'a-run', 'sc', 'run', 'a-1', '0');
    const shortIds = fc.constantFrom('0'.repeat(26), `${'0'.repeat(25)}1`);
    const hostileRun = fc.oneof(
      fc.tuple(shortIds, fc.integer({ min: 0, max: 3 })).map(([one, n]) => `sc_${one}.${n}`),
      shortIds.map((one) => `run_${one}`),
    );
    const near = fc.record({ deployment: hostile, runId: hostileRun, attempt: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(fc.oneof(input, near), fc.oneof(input, near), (a, b) => {
        const isSame = JSON.stringify(a) === JSON.stringify(b);
        const [left, right] = [a, b].map((one) => allocationName(one.deployment, one.runId, one.attempt));
        expect(left === right).toBe(isSame);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('isAllocationOf', () => {
  test('knows the names of its deployment, and no other', () => {
    fc.assert(
      fc.property(input, deployment, (a, other) => {
        const name = allocationName(a.deployment, a.runId, a.attempt);
        expect(isAllocationOf(a.deployment, name)).toBe(true);
        if (other !== a.deployment) expect(isAllocationOf(other, name)).toBe(false);
      }),
    );
  });

  test.each(['', 'everdict', 'everdict-1', 'everdict-run-1-1', 'everdict-sc-x'])('%j is none', (name) => {
    expect(isAllocationOf('everdict', name)).toBe(false);
  });
});
