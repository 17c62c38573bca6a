import type { DecisionRecord } from '../../contracts/decisions.js';

/** Decisions that are kept to be read. */
const KEPT = 50;

/** The last decisions of a pool. */
export class DecisionLog {
  private readonly records: DecisionRecord[];

  constructor(records: readonly DecisionRecord[] = []) {
    this.records = records.slice(-KEPT);
  }

  /** Oldest first. */
  get last(): readonly DecisionRecord[] {
    return this.records;
  }

  add(record: DecisionRecord): void {
    this.records.push(record);
    if (this.records.length > KEPT) this.records.shift();
  }
}
