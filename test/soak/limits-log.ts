import type { E2ePlatform } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { uptime } from './job-ledger.js';
import type { Era, Ruled } from './ledger-checker.js';
import type { SharedRuntime } from './shared-site.js';

const WITHIN_MS = 60_000;

/** Turns the dials of shared runtimes, and knows which of them each lease is held to. */
export class LimitsLog {
  readonly eras: Era[];

  constructor(
    private readonly platform: E2ePlatform,
    private readonly runtimes: readonly SharedRuntime[],
  ) {
    this.eras = runtimes.map((runtime) => ({ ...limitsOf(runtime), at: 0, afterSeq: 0 }));
  }

  /** Until the next change. Returns once the ledger goes by it. */
  async set(id: string, lower: { slots?: number; memoryMb?: number }): Promise<void> {
    await this.turn(id, lower, { mode: 'open', limits: lower });
  }

  async pause(id: string): Promise<void> {
    await this.turn(id, { slots: 0 }, { mode: 'paused' });
  }

  /** Its own limits hold again. */
  async open(id: string): Promise<void> {
    await this.turn(id, {}, { mode: 'open' });
  }

  private async turn(id: string, lower: Partial<Era>, change: object): Promise<void> {
    const runtime = this.runtimes.find((each) => each.id === id);
    if (!runtime) throw new Error(`there is no runtime ${id}`);
    const era: Era = { ...limitsOf(runtime), ...lower, at: uptime(), afterSeq: Number.POSITIVE_INFINITY };
    this.eras.push(era);
    await this.platform.ok('PATCH', `/runtimes/${id}/admission`, change);
    const [pool] = await this.platform.sql<{ version: number }>(
      'SELECT envelope_version AS version FROM pools WHERE id = $1',
      [`rt:_shared:${id}`],
    );
    const version = pool?.version ?? Number.POSITIVE_INFINITY;
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
