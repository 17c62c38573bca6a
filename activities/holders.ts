import { type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import type { Lease } from '../contracts/admission.js';
import { hasEndedItself, isGone } from '../policy/sweep.js';
import type { RunStore } from '../store/run.store.js';
import { runIdOfHolder, scorecardWorkflowId } from '../workflows/messages.js';

/** What a lease, or an attempt, says of its holder. */
export type Holding = Pick<Lease, 'holder' | 'to' | 'seq'>;

/** How many executions are described at once. */
const DESCRIBED_AT_ONCE = 20;

/** Tells whether anyone still goes on with a case. Asks Temporal, which alone knows. */
export class Holders {
  constructor(
    private readonly client: WorkflowClient,
    private readonly runs: Pick<RunStore, 'guards'>,
  ) {}

  /** Those of which this workflow is gone. */
  gone<Item>(items: readonly Item[], workflowIdOf: (item: Item) => string): Promise<Item[]> {
    return this.filter(items, async (item) => isGone(await this.statusOf(workflowIdOf(item))));
  }

  /** Those that nobody will ever give back. */
  dead<Item extends Omit<Holding, 'seq'>>(holdings: readonly Item[]): Promise<Item[]> {
    return this.filter(holdings, (holding) => this.isDead(holding));
  }

  /**
   * A case that ended by itself holds nothing. One that was ended from outside is its window's, or its root's, to repair,
   * unless its run has an outcome: no window lists it again.
   */
  private async isDead({ holder, to }: Omit<Holding, 'seq'>): Promise<boolean> {
    const status = await this.statusOf(holder);
    if (hasEndedItself(status)) return true;
    if (!isGone(status)) return false;
    if ((await this.runs.guards(runIdOfHolder(holder)))?.outcome !== undefined) return true;
    if (to !== holder && !isGone(await this.statusOf(to))) return false;
    const [scorecardId, ordinal] = runIdOfHolder(holder).split('.');
    if (scorecardId === undefined || ordinal === undefined) return true;
    return isGone(await this.statusOf(scorecardWorkflowId(scorecardId)));
  }

  private async statusOf(workflowId: string): Promise<string> {
    try {
      return (await this.client.getHandle(workflowId).describe()).status.name;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'MISSING';
      throw error;
    }
  }

  private async filter<Item>(items: readonly Item[], holds: (item: Item) => Promise<boolean>): Promise<Item[]> {
    const found: Item[] = [];
    for (let start = 0; start < items.length; start += DESCRIBED_AT_ONCE) {
      const group = items.slice(start, start + DESCRIBED_AT_ONCE);
      const verdicts = await Promise.all(group.map(holds));
      found.push(...group.filter((_, i) => verdicts[i]));
    }
    return found;
  }
}
