import type { Lease, Ticket } from '../contracts/admission.js';
import type { DurationStore } from '../store/duration.store.js';
import type { DurationKey } from '../store/pool-rows.js';

/** Says of each how long nine in ten of its kind held their slot, where that is known. A reading that fails says nothing. */
export function withExpected<Of extends Ticket | Lease>(
  durations: Pick<DurationStore, 'of'>,
  holders: readonly Of[],
  keyOf: (holder: string) => DurationKey | undefined,
): Promise<Of[]> {
  return Promise.all(
    holders.map(async (each) => {
      const key = keyOf(each.holder);
      const known = key && (await durations.of(key).catch(() => undefined));
      return known ? { ...each, expectedMs: known.p90Ms } : each;
    }),
  );
}
