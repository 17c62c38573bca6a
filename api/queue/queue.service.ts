import { Injectable } from '@nestjs/common';
import type { QueuedTicket } from '../../contracts/admission-view.js';
import { PlatformError } from '../../contracts/errors.js';
import type { Promoted, QueueEntry } from '../../contracts/run-waiting.js';
import { RunStore } from '../../store/run.store.js';
import { MOST_PROMOTED, type Promotion, WaitingStore } from '../../store/waiting.store.js';
import { runtimeOfPool } from '../../workflows/messages.js';
import { DialService } from '../admission/dial.service.js';
import { LedgersService } from '../admission/ledgers.service.js';
import type { Identity, Principal } from '../common/caller.js';
import { decodeCursor, encodeCursor } from '../common/cursor.js';
import { notFound } from '../common/registration.js';
import { WorkflowClient } from '../common/workflow.client.js';
import { EstimatesService, NO_ESTIMATE } from '../simulation/estimates.service.js';
import { type QueuePage, QueuePosition, type QueueQuery } from './queue.schema.js';

/** After this long a page ends, however short it is, and the next one goes on. */
const PAGE_MS = 2_000;

type EstimatedTicket = QueuedTicket & Pick<QueueEntry, 'waiting'>;

/** Who waits for a slot, in the order in which the ledgers consider them. */
@Injectable()
export class QueueService {
  constructor(
    private readonly waiting: WaitingStore,
    private readonly runs: RunStore,
    private readonly dials: DialService,
    private readonly ledgers: LedgersService,
    private readonly estimates: EstimatesService,
    private readonly workflows: WorkflowClient,
  ) {}

  /** Pool after pool. Of a shared runtime, tickets of other workspaces count in positions, and are not shown. */
  async list({ workspace }: Principal, { isOperator }: Identity, query: QueueQuery): Promise<QueuePage> {
    const isAll = query.all !== undefined;
    if (isAll && !isOperator) throw new PlatformError('FORBIDDEN', '`all` shows every workspace, to the operator only');
    const from = decodeCursor(QueuePosition, query.cursor);
    const pools = query.runtime
      ? [(await this.dials.find(workspace, query.runtime)).poolId]
      : await this.waiting.pools(isAll ? undefined : workspace);
    const left = pools.filter((pool) => from === undefined || pool >= from.pool);
    const tickets: EstimatedTicket[] = [];
    const unread: string[] = [];
    const begun = Date.now();
    let next: QueuePosition | undefined;
    for (const [index, pool] of left.entries()) {
      const after = pool === from?.pool ? from.after : undefined;
      const limit = query.limit - tickets.length;
      const asked = this.ledgers.queue(pool, { limit, after, ...(!isAll && { workspace }) });
      const page = await asked.catch((error: unknown) => {
        if (query.runtime !== undefined) throw error;
        unread.push(runtimeOfPool(pool));
        return { tickets: [], next: null };
      });
      tickets.push(...(await this.estimated(pool, page.tickets)));
      const following = left[index + 1];
      if (page.next !== null) next = { pool, after: page.next };
      else next = following === undefined ? undefined : { pool: following };
      if (page.next !== null || tickets.length >= query.limit || Date.now() - begun > PAGE_MS) break;
    }
    return { items: await this.entries(tickets), next: next ? encodeCursor(next) : null, unread };
  }

  /** Wanted before everything else of its workspace. In the database first, so that a ticket it asks for later says so. */
  async promote({ workspace }: Principal, id: string): Promise<Promoted> {
    const run = await this.runs.find(workspace, id);
    if (!run) throw notFound('run', id);
    const promoted = await this.waiting.promote(id);
    const { promotedAt, poolId, scorecardId, isQueued } = promoted ?? (await this.promotedBefore(workspace, id));
    // Who repeats it may have reason to: the ledger is told again.
    const isNew = promoted !== undefined && scorecardId !== null;
    this.workflows.promote({ runId: id, poolId, promotedAt, isQueued, ...(isNew && { scorecardId }) });
    return { run: id, state: run.state, promotedAt: promotedAt.toISOString() };
  }

  /** Of a run that is promoted already; others are refused. */
  private async promotedBefore(workspace: string, id: string): Promise<Promotion> {
    const { state, outcome } = (await this.runs.find(workspace, id)) ?? {};
    if (state !== 'queued' && state !== 'waiting') {
      throw new PlatformError('CONFLICT', `run ${id} is ${outcome ?? state}: only what waits is promoted`);
    }
    const promotion = await this.waiting.promotion(id);
    if (promotion) return promotion;
    const message = `${MOST_PROMOTED} runs of workspace ${workspace} wait promoted, and that is as many as may be`;
    throw new PlatformError('CONFLICT', message);
  }

  private async estimated(pool: string, tickets: readonly QueuedTicket[]): Promise<EstimatedTicket[]> {
    if (tickets.length === 0) return [];
    const estimates = await this.estimates.estimate(
      pool,
      tickets.map(({ run }) => run),
    );
    return tickets.map((ticket) => ({
      ...ticket,
      waiting: { ...ticket.waiting, ...(estimates.get(ticket.run) ?? NO_ESTIMATE) },
    }));
  }

  private async entries(tickets: readonly EstimatedTicket[]): Promise<QueueEntry[]> {
    const named = await this.waiting.named(tickets.map(({ run }) => run));
    const byId = new Map(named.map(({ id, ...names }) => [id, names]));
    return tickets.flatMap((ticket) => {
      const names = byId.get(ticket.run);
      return names ? [{ ...ticket, ...names }] : [];
    });
  }
}
