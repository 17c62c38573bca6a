import { Injectable } from '@nestjs/common';
import type { PoolView, QueuePage, QueueRequest } from '../../contracts/admission-view.js';
import { PlatformError } from '../../contracts/errors.js';
import type { Waiting } from '../../contracts/waiting.js';
import { Ledger } from '../../policy/admission/ledger.js';
import { viewPool } from '../../policy/admission/view.js';
import { PoolStore } from '../../store/pool.store.js';
import { runtimeOfPool } from '../../workflows/messages.js';
import { WorkflowClient } from '../common/workflow.client.js';

/** How long one question to a ledger may take. */
const ANSWER_MS = 3_000;

/** Asks the ledgers of pools. One that does not run is empty; one that does not answer in time is named. */
@Injectable()
export class LedgersService {
  constructor(
    private readonly pools: PoolStore,
    private readonly workflows: WorkflowClient,
  ) {}

  async view(poolId: string, withinMs = ANSWER_MS): Promise<PoolView> {
    const view = await answered(poolId, this.workflows.poolView(poolId, withinMs));
    return view ?? this.emptyView(poolId);
  }

  async queue(poolId: string, request: QueueRequest): Promise<QueuePage> {
    const page = await answered(poolId, this.workflows.queuePage(poolId, request, ANSWER_MS));
    return page ?? { tickets: [], total: 0, next: null };
  }

  /** By run. A run that the ledger does not know is left out. */
  waitingOf(poolId: string, runs: string[], withinMs = ANSWER_MS): Promise<Record<string, Waiting>> {
    return answered(poolId, this.workflows.waitingOf(poolId, runs, withinMs));
  }

  private async emptyView(poolId: string): Promise<PoolView> {
    const limits = await this.pools.limits(poolId);
    const ledger = Ledger.open(limits.epoch, [], []);
    return viewPool({ runtime: runtimeOfPool(poolId), ledger, limits, now: Date.now() });
  }
}

async function answered<Answer>(poolId: string, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const message = `the admission of runtime ${runtimeOfPool(poolId)} does not answer: try again`;
    throw new PlatformError('ADMISSION_UNREACHABLE', message, {}, { cause: error });
  }
}
