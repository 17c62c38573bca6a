import type { LogMark } from '../../contracts/log-events.js';

const BYTES = 1_024 * 1_024;
/** In a log that is long enough to be thrown away in part, marks are not older than that. */
const MS = 5_000;
/** Nor are they closer to one another. */
const APART_BYTES = 65_536;

/** How often a place in a log is noted: with its first line, and then now and then. */
export class MarkPace {
  private noted: { at: number; ms: number } | undefined;

  /** `last` was noted already. */
  constructor(last?: LogMark) {
    if (last) this.noted = { at: last.at, ms: performance.now() };
  }

  /** A place, if it is to be noted. */
  due(mark: LogMark | undefined): LogMark | undefined {
    if (!mark || !this.isDue(mark)) return undefined;
    this.noted = { at: mark.at, ms: performance.now() };
    return mark;
  }

  private isDue({ at }: LogMark): boolean {
    const { noted } = this;
    if (!noted || at >= noted.at + BYTES) return true;
    return at >= noted.at + APART_BYTES && at >= BYTES && performance.now() > noted.ms + MS;
  }
}
