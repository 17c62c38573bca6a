/** Batch work that waited so long is aged. */
export const AGED_AFTER_MS = 60_000;
/** While interactive tickets wait, at most every fourth grant goes to aged batch work. */
const BETWEEN = 3;

/** Whether aged batch work goes before interactive tickets. */
export class AgedTurn {
  private grants: number;

  /** Grants since the last one to aged work: at first it is its turn. */
  constructor(since = BETWEEN) {
    this.grants = since;
  }

  get since(): number {
    return this.grants;
  }

  get isNext(): boolean {
    return this.grants >= BETWEEN;
  }

  /** How many others go before it is its turn. */
  get others(): number {
    return BETWEEN - this.grants;
  }

  granted(isAgedWork: boolean): void {
    this.grants = isAgedWork ? 0 : Math.min(BETWEEN, this.grants + 1);
  }
}
