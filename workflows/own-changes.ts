import { log, sleep } from '@temporalio/workflow';
import type { PoolLimits } from '../activities/admission.activities.js';
import type { Ledger } from '../policy/admission/ledger.js';
import { limitsAt } from '../policy/admission/limits.js';
import { inBackground } from './background.js';

/** Wakes a ledger when what holds it back ends by itself: what somebody set for a while, or an open circuit. */
export class OwnChanges {
  private readonly awaited = new Set<number>();
  private circuit = 'closed';

  constructor(
    private readonly poolId: string,
    private readonly wake: () => void,
  ) {}

  follow(ledger: Ledger, limits: PoolLimits): void {
    const now = Date.now();
    this.wakeAt(limitsAt(limits, now).until);
    this.wakeAt(ledger.circuit.changesAt(now));
    const { state, failures } = ledger.circuit.view;
    if (state !== this.circuit) log.warn('circuit of a runtime changed', { poolId: this.poolId, state, failures });
    this.circuit = state;
  }

  private wakeAt(at: number | undefined): void {
    if (at === undefined || this.awaited.has(at)) return;
    this.awaited.add(at);
    inBackground(async () => {
      await sleep(Math.max(1, at - Date.now()));
      this.awaited.delete(at);
      this.wake();
    });
  }
}
