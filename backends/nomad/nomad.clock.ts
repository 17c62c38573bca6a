import type { NomadListener } from './nomad.client.js';

/** Time in which the cluster answered: what passes while it does not uses up nobody's patience. */
export class AnsweredClock implements NomadListener {
  /** Of the last answer, unless a try has failed since. */
  private last: number | undefined;
  ms = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  answered(): void {
    const now = this.now();
    if (this.last !== undefined) this.ms += now - this.last;
    this.last = now;
  }

  failed(): void {
    this.last = undefined;
  }
}
