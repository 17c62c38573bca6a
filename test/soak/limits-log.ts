import type { E2ePlatform } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { uptime } from './job-ledger.js';
import type { Era, Ruled } from './ledger-checker.js';
import type { SharedRuntime } from './shared-site.js';

const WITHIN_MS = 60_000;

/** Lowers and raises the limits of shared runtimes, and knows which of them each lease is held to. */
export class LimitsLog {
  readonly eras: Era[];

  constructor(
    private readonly platform: E2ePlatform,
    private readonly runtimes: readonly SharedRuntime[],
    /** Tells the ledger of a pool of a new version of its limits. */
    private readonly announce: (pool: string, version: number) => Promise<void>,
  ) {
    this.eras = runtimes.map((runtime) => ({ ...limitsOf(runtime), at: 0, afterSeq: 0 }));
  }

  /** Until the next change: lower limits, or again those of the runtime itself. Returns once the ledger goes by it. */
  async set(id: string, lower: { slots?: number; memoryMb?: number } = {}): Promise<void> {
    const runtime = this.runtimes.find((each) => each.id === id);
    if (!runtime) throw new Error(`there is no runtime ${id}`);
    const era: Era = { ...limitsOf(runtime), ...lower, at: uptime(), afterSeq: Number.POSITIVE_INFINITY };
    this.eras.push(era);
    const [changed] = await this.platform.sql<{ version: number }>(
      `UPDATE pools SET dial_slots = $2, dial_memory_mb = $3, limits_at = now(), envelope_version = envelope_version + 1
       WHERE id = $1 RETURNING envelope_version AS version`,
      [`rt:_shared:${id}`, lower.slots ?? null, lower.memoryMb ?? null],
    );
    const version = changed?.version ?? 0;
    await this.announce(id, version);
    era.afterSeq = await eventually(`${id} goes by limits ${version}`, () => this.lastBefore(id, version), WITHIN_MS);
  }

  /** The highest number of a lease that may have been granted before these limits were known. */
  private async lastBefore(id: string, version: number): Promise<number | undefined> {
    try {
      const ledger = (await this.platform.temporal()).workflow.getHandle(`admission:_shared:${id}`);
      const { currentDetails } = await ledger.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      if (Number(/, limits (\d+)$/.exec(currentDetails)?.[1] ?? 0) < version) return undefined;
      const leases = await ledger.query<{ seq: number }[]>('heldLeases');
      const [last] = await this.platform.sql<{ seq: string }>(
        'SELECT coalesce(max(seq), 0) AS seq FROM attempts WHERE pool_id = $1',
        [`rt:_shared:${id}`],
      );
      return Math.max(Number(last?.seq), ...leases.map(({ seq }) => seq));
    } catch {
      // Something of it is down.
      return undefined;
    }
  }

  /** What the jobs are held to. */
  async ruled(quotas: Ruled['quotas']): Promise<Omit<Ruled, 'notes'>> {
    const attempts = await this.platform.sql<{ run_id: string; attempt: number; seq: string }>(
      'SELECT run_id, attempt, seq FROM attempts',
    );
    const seqs = new Map(attempts.map(({ run_id, attempt, seq }) => [`${run_id} ${attempt}`, Number(seq)]));
    return { eras: this.eras, quotas, seqs };
  }
}

const limitsOf = ({ id, maxConcurrent, memoryBudgetMb }: SharedRuntime) => ({
  pool: id,
  slots: maxConcurrent,
  ...(memoryBudgetMb !== undefined && { memoryMb: memoryBudgetMb }),
});
