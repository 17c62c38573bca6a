import { type Allocation, leftoversOf } from '../policy/sweep.js';
import type { SweepStore } from '../store/sweep.store.js';

/** Allocations that are looked up at once, and found at most. */
const BATCH = 200;

/** Finds allocations that nobody needs. */
export class Leftovers {
  constructor(
    private readonly sweep: Pick<SweepStore, 'standings'>,
    /** How old an allocation must be. */
    private readonly graceMs: number,
  ) {}

  async of(allocations: readonly Allocation[]): Promise<string[]> {
    const found: string[] = [];
    for (let start = 0; start < allocations.length && found.length < BATCH; start += BATCH) {
      const part = allocations.slice(start, start + BATCH);
      const standings = await this.sweep.standings(part.map(({ name }) => name));
      found.push(...leftoversOf(part, standings, { now: Date.now(), graceMs: this.graceMs }));
    }
    return found;
  }
}
