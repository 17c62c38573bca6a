/** Told of what becomes of each try to ask a cluster. */
export interface ClusterListener {
  answered(): void;
  failed(): void;
}

/** Time in which the cluster answered: what passes while it does not uses up nobody's patience. */
export class AnsweredClock implements ClusterListener {
  /** Of the last answer, unless a try has failed since. */
  private last: number | undefined;
  ms = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** And what has passed since the last answer: a try that fails takes that back. */
  get assumedMs(): number {
    return this.last === undefined ? this.ms : this.ms + this.now() - this.last;
  }

  answered(): void {
    const now = this.now();
    if (this.last !== undefined) this.ms += now - this.last;
    this.last = now;
  }

  failed(): void {
    this.last = undefined;
  }
}
