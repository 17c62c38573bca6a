import { proxyActivities } from '@temporalio/workflow';
import type { AdmissionActivities } from '../activities/admission.activities.js';
import type { Refusal } from '../policy/admission/decision.js';
import { inBackground } from './background.js';
import { CONTROL } from './proxies.js';

const { refuseTickets } = proxyActivities<AdmissionActivities>(CONTROL);

/** As many as one activity ends well within its time. */
const AT_ONCE = 200;

/** Tickets that can never be met, until their runs are ended and whoever waits for them knows. */
export class Refusals {
  private readonly pending = new Set<Refusal>();

  constructor(carried: Refusal[]) {
    this.refuse(carried);
  }

  /** What the next history has to go on with. */
  get left(): Refusal[] {
    return [...this.pending];
  }

  refuse(refused: Refusal[]): void {
    if (refused.length === 0) return;
    for (const refusal of refused) this.pending.add(refusal);
    inBackground(async () => {
      for (let start = 0; start < refused.length; start += AT_ONCE) {
        const part = refused.slice(start, start + AT_ONCE);
        await refuseTickets({ refused: part });
        for (const refusal of part) this.pending.delete(refusal);
      }
    });
  }
}
