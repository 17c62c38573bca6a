import { condition, proxyActivities, sleep } from '@temporalio/workflow';
import type { AdmissionActivities, Holding } from '../activities/admission.activities.js';
import type { Lease } from '../contracts/admission.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { Ledger } from '../policy/admission/ledger.js';
import { inBackground } from './background.js';
import { runIdOfHolder } from './messages.js';
import { SURVEY } from './proxies.js';
import { reclaimRun } from './reclaim-run.js';

const { findDeadHolders } = proxyActivities<AdmissionActivities>(SURVEY);

const MAX_DESCRIBED = 200;
const SURVEY_EVERY_MS = 20_000;

interface Pool {
  ledger: Ledger;
  kind: RuntimeKind;
}

/** Looks, a part at a time, for holders that are gone. Cleans up after each first, then gives its slot back. */
export class Reconciler {
  private readonly reclaiming = new Set<string>();
  private offset = 0;
  /** When the next survey begins, epoch ms. Carried along, or a busy pool would continue as new before it is ever due. */
  surveyAt = 0;

  constructor(
    private readonly pool: () => Pool,
    private readonly free: (holding: Holding) => void,
  ) {}

  /** As long as anyone holds or waits; `due` is called each time. */
  async keepSurveying(firstAt: number | undefined, due: () => void): Promise<void> {
    const isIdle = (): boolean => this.pool().ledger.isIdle;
    this.surveyAt = firstAt ?? Date.now() + SURVEY_EVERY_MS;
    for (;;) {
      if (isIdle()) {
        await condition(() => !isIdle());
        this.surveyAt = Date.now() + SURVEY_EVERY_MS;
      }
      await sleep(Math.max(1, this.surveyAt - Date.now()));
      this.surveyAt = Date.now() + SURVEY_EVERY_MS;
      due();
      inBackground(() => this.surveyNext());
    }
  }

  /** The next leases in turn. */
  private async surveyNext(): Promise<void> {
    const leases = [...this.pool().ledger.leases.values()];
    if (this.offset >= leases.length) this.offset = 0;
    const part = leases.slice(this.offset, this.offset + MAX_DESCRIBED);
    this.offset += MAX_DESCRIBED;
    await this.survey(part);
  }

  /** Holders nobody could be told about. */
  suspect(gone: string[]): void {
    const { leases } = this.pool().ledger;
    const suspects = gone.flatMap((holder) => leases.get(holder) ?? []);
    inBackground(() => this.survey(suspects));
  }

  private async survey(leases: Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const asked = leases.map(({ holder, to, seq }) => ({ holder, to, seq }));
    const { dead } = await findDeadHolders({ leases: asked });
    for (const holding of dead) inBackground(() => this.reclaimThenFree(holding));
  }

  private async reclaimThenFree(holding: Holding): Promise<void> {
    const { holder, seq } = holding;
    if (this.reclaiming.has(holder)) return;
    this.reclaiming.add(holder);
    try {
      await reclaimRun({ runId: runIdOfHolder(holder), kind: this.pool().kind, seq });
      this.free(holding);
    } finally {
      this.reclaiming.delete(holder);
    }
  }
}
