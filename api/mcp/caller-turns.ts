import { PlatformError } from '../../contracts/errors.js';
import { Turns } from '../common/turns.js';

/** Calls of one caller that are carried out at a time, in this process. */
const AT_A_TIME = 8;
/** Those and the ones that wait for their turn. */
const MOST = 512;
const RETRY_AFTER_SEC = 5;

/** Lets no caller take up the process with calls. */
export class CallerTurns {
  private readonly callers = new Map<string, { turns: Turns; calls: number }>();

  /** Work whose caller has gone is not begun. */
  async take<T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const caller = this.callers.get(name) ?? { turns: new Turns(AT_A_TIME), calls: 0 };
    if (caller.calls >= MOST) {
      const message = `${MOST} calls of yours wait already: make another when one is answered`;
      throw new PlatformError('TOO_MANY_REQUESTS', message, { retryAfterSec: RETRY_AFTER_SEC });
    }
    this.callers.set(name, caller);
    caller.calls += 1;
    try {
      return await caller.turns.take(() => {
        signal.throwIfAborted();
        return work();
      });
    } finally {
      caller.calls -= 1;
      if (caller.calls === 0) this.callers.delete(name);
    }
  }
}
