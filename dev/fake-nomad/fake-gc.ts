import { rmSync } from 'node:fs';
import type { AllocationRun } from './fake-client.js';
import type { FakeNode } from './fake-nodes.js';

/** What clients keep of allocations that have ended, and what they let go of, as `client.gc_max_allocs` has it. */
export class ClientGc {
  /** Ended, oldest first. */
  private readonly ended = new Set<AllocationRun>();

  constructor(
    /** By the id of its allocation. */
    private readonly runs: Map<string, AllocationRun>,
    private readonly maxAllocs: number,
  ) {}

  /** Before one more starts on a node: until all of them fit, running ones counted. */
  makeRoom(node: FakeNode): void {
    let count = 1 + [...this.runs.values()].filter((run) => run.node === node).length;
    for (const run of this.ended) {
      if (count <= this.maxAllocs) return;
      if (run.node !== node) continue;
      this.drop(run);
      count -= 1;
    }
  }

  /** All tasks of it have ended. Where nothing is kept, it goes before anyone hears of its end. */
  end(run: AllocationRun): void {
    if (!this.runs.has(run.allocation.ID)) return;
    this.ended.add(run);
    if (this.maxAllocs === 0) this.drop(run);
  }

  /** Whether there was one of this id that had ended. */
  collect(id: string): boolean {
    const run = this.runs.get(id);
    if (!run || !this.ended.has(run)) return false;
    this.drop(run);
    return true;
  }

  collectAll(): void {
    for (const run of this.ended) this.drop(run);
  }

  /** Ids of what could be collected. */
  get collectable(): string[] {
    return [...this.ended].map(({ allocation }) => allocation.ID);
  }

  private drop(run: AllocationRun): void {
    this.ended.delete(run);
    this.runs.delete(run.allocation.ID);
    run.isKept = false;
    rmSync(run.directory, { recursive: true, force: true });
  }
}
