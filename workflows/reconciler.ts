import { condition, patched, proxyActivities, sleep } from '@temporalio/workflow';
import type { AdmissionActivities, Holding, LeaseSpan, Surveyed } from '../activities/admission.activities.js';
import type { AdmissionMessage, Lease } from '../contracts/admission.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { Ledger } from '../policy/admission/ledger.js';
import { inBackground } from './background.js';
import { runIdOfHolder } from './messages.js';
import { SURVEY } from './proxies.js';
import { reclaimRun } from './reclaim-run.js';

const { findDeadHolders } = proxyActivities<AdmissionActivities>(SURVEY);

const MAX_DESCRIBED = 200;
const SURVEY_EVERY_MS = 20_000;

/** What is told to the ledger. */
type Found = Pick<Partial<AdmissionMessage>, 'release' | 'adopt'>;

interface Pool {
  poolId: string;
  ledger: Ledger;
  kind: RuntimeKind;
}

/**
 * Looks, a part at a time, for holders that are gone: cleans up after each first, then gives its slot back. And for live
 * attempts without a lease: they hold one from then on.
 */
export class Reconciler {
  private readonly reclaiming = new Set<string>();
  private offset = 0;
  /** When the next survey begins, epoch ms. Carried along, or a busy pool would continue as new before it is ever due. */
  surveyAt = 0;

  constructor(
    private readonly pool: () => Pool,
    private readonly tell: (found: Found) => void,
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

  /** The next leases in turn, and the attempts whose numbers are between theirs. */
  async surveyNext(): Promise<void> {
    const { poolId, ledger } = this.pool();
    const leases = [...ledger.leases.values()].sort((one, other) => one.seq - other.seq);
    if (leases.length === 0 && !patched('survey-attempts')) return;
    if (this.offset >= leases.length) this.offset = 0;
    const after = leases[this.offset - 1]?.seq ?? 0;
    const part = leases.slice(this.offset, this.offset + MAX_DESCRIBED);
    this.offset += MAX_DESCRIBED;
    const isLast = this.offset >= leases.length;
    const upTo = isLast ? Number.MAX_SAFE_INTEGER : (part.at(-1)?.seq ?? after);
    const { unleased = [] } = await this.survey(part, { poolId, after, upTo });
    if (unleased.length > 0) this.tell({ adopt: unleased });
  }

  /** Holders nobody could be told about. */
  suspect(gone: string[]): void {
    const { leases } = this.pool().ledger;
    const suspects = gone.flatMap((holder) => leases.get(holder) ?? []);
    if (suspects.length === 0) return;
    inBackground(async () => {
      await this.survey(suspects);
    });
  }

  private async survey(leases: Lease[], span?: LeaseSpan): Promise<Surveyed> {
    const asked = leases.map(({ holder, to, seq, grantedAt }) => ({ holder, to, seq, grantedAt }));
    const surveyed = await findDeadHolders({ leases: asked, span });
    for (const holding of surveyed.dead) inBackground(() => this.reclaimThenFree(holding));
    return surveyed;
  }

  private async reclaimThenFree(holding: Holding): Promise<void> {
    const { holder, seq } = holding;
    if (this.reclaiming.has(holder)) return;
    this.reclaiming.add(holder);
    try {
      await reclaimRun({ runId: runIdOfHolder(holder), kind: this.pool().kind, seq });
      this.tell({ release: [{ holder, seq }] });
    } finally {
      this.reclaiming.delete(holder);
    }
  }
}
