import type { DataSource } from 'typeorm';
import type { AdmissionLimits, Demand, Lease, Ticket, WorkClass, WorkspaceShare } from '../contracts/admission.js';
import { PlatformError } from '../contracts/errors.js';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { MAX_TICKETS } from '../policy/admission/ledger.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { DIAL_COLUMNS, type DialRow, dialOfRow } from './dial-row.js';
import { row, rows, transaction } from './sql.js';

export interface Rebuilt {
  /** Grants of earlier epochs open no attempt any more. */
  epoch: number;
  live: Lease[];
  waiting: Ticket[];
}

/** What decisions are made by, with a version that rises with every change of it. */
export interface PoolLimits extends AdmissionLimits {
  version: number;
  kind: RuntimeKind;
  /** Of the ledger that grants now. */
  epoch: number;
}

interface PoolRow extends DemandRow, DialRow {
  kind: RuntimeKind;
  workspace_id: string;
  envelope_version: number;
  slots: number;
  epoch: number;
}

/** Of workspaces with a weight or quota of their own, and of scorecards that are paused: as many as one reading holds. */
const MOST_READ = 1_000;

interface HeldRow extends DemandRow {
  to: string;
  workspace_id: string;
  session_pool: string | null;
}

interface LeaseRow extends HeldRow {
  holder: string;
  seq: number;
  opened_at: Date;
}

interface TicketRow extends HeldRow {
  id: string;
  class: WorkClass;
  asked_at: Date;
  promoted_at: Date | null;
}

/** What a ticket takes: what its run declares, and a session where its harness needs one. */
export const ticketDemand = (stored: DemandRow & { session_pool: string | null }): Demand => ({
  ...demandOfRow(stored),
  ...(stored.session_pool !== null && { sessionPool: stored.session_pool }),
});

const noPool = (poolId: string) => new PlatformError('NOT_FOUND', `there is no pool ${poolId}`);

export class PoolStore {
  constructor(private readonly dataSource: DataSource) {}

  async limits(poolId: string): Promise<PoolLimits> {
    const found = await row<PoolRow>(
      this.dataSource,
      `SELECT kind, workspace_id, envelope_version, slots, memory_mb, cpu_millicores, epoch, ${DIAL_COLUMNS}
       FROM pools WHERE id = $1`,
      [poolId],
    );
    if (!found) throw noPool(poolId);
    const dial = dialOfRow(found);
    return {
      version: found.envelope_version,
      kind: found.kind,
      epoch: found.epoch,
      envelope: { slots: found.slots, ...demandOfRow(found) },
      ...(dial && { dial }),
      workspaces: await this.shares(found.workspace_id),
      pausedScorecards: await this.pausedScorecards(poolId),
    };
  }

  /** Of the workspace whose runtime it is; a shared runtime serves them all. */
  private async shares(owner: string): Promise<Record<string, WorkspaceShare>> {
    const found = await rows<{ id: string; weight: number; max_running: number | null }>(
      this.dataSource,
      `SELECT id, weight, max_running FROM workspaces
       WHERE (weight <> 1 OR max_running IS NOT NULL) AND ($1 = $2 OR id = $1) ORDER BY id LIMIT $3`,
      [owner, SHARED_WORKSPACE, MOST_READ],
    );
    return Object.fromEntries(
      found.map(({ id, weight, max_running }) => [
        id,
        { ...(weight !== 1 && { weight }), ...(max_running !== null && { maxRunning: max_running }) },
      ]),
    );
  }

  private async pausedScorecards(poolId: string): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM scorecards WHERE paused_at IS NOT NULL AND finished_at IS NULL AND $1 = ANY (pool_ids)
       ORDER BY id LIMIT $2`,
      [poolId, MOST_READ],
    );
    return found.map(({ id }) => id);
  }

  /**
   * Starts a new epoch and reads what is left of the old one. Raising comes first and waits for every fence that shares
   * the row; the next statement, with a snapshot of its own, then sees all they opened.
   */
  rebuild(poolId: string): Promise<Rebuilt> {
    return transaction(this.dataSource, async (db) => {
      const pool = await row<{ epoch: number }>(
        db,
        'UPDATE pools SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch',
        [poolId],
      );
      if (!pool) throw noPool(poolId);
      const live = await rows<LeaseRow>(
        db,
        `SELECT a.holder, coalesce(r.asked_by, a.holder) AS "to", r.workspace_id, a.seq, a.memory_mb, a.cpu_millicores,
           h.session_pool, a.opened_at
         FROM attempts a JOIN runs r ON r.id = a.run_id JOIN harnesses h ON h.pk = r.harness_pk
         WHERE a.pool_id = $1 AND a.closed_at IS NULL ORDER BY a.seq`,
        [poolId],
      );
      const waiting = await rows<TicketRow>(
        db,
        `SELECT r.id, r.asked_by AS "to", r.workspace_id, r.class, r.memory_mb, r.cpu_millicores, h.session_pool,
           r.asked_at, r.promoted_at
         FROM runs r JOIN harnesses h ON h.pk = r.harness_pk
         WHERE r.pool_id = $1 AND r.asked_at IS NOT NULL AND r.asked_by IS NOT NULL AND r.open_attempt IS NULL
           AND r.outcome IS NULL
         ORDER BY r.asked_at, r.id LIMIT $2`,
        [poolId, MAX_TICKETS],
      );
      return {
        epoch: pool.epoch,
        live: live.map((lease) => ({
          holder: lease.holder,
          to: lease.to,
          workspace: lease.workspace_id,
          seq: lease.seq,
          demand: ticketDemand(lease),
          grantedAt: lease.opened_at.getTime(),
        })),
        waiting: waiting.map((run) => ({
          holder: `case:${run.id}`,
          to: run.to,
          workspace: run.workspace_id,
          class: run.class,
          demand: ticketDemand(run),
          askedAt: run.asked_at.getTime(),
          ...(run.promoted_at && { promotedAt: run.promoted_at.getTime() }),
        })),
      };
    });
  }

  /** Pools that someone waits in or that hold a live attempt. */
  async active(): Promise<string[]> {
    // In order, or the planner hopes to meet a waiting run soon by reading all there are.
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT id FROM pools p
       WHERE EXISTS (SELECT FROM attempts WHERE pool_id = p.id AND closed_at IS NULL)
          OR (SELECT asked_at FROM runs
              WHERE pool_id = p.id AND asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL
              ORDER BY asked_at LIMIT 1) IS NOT NULL
       ORDER BY id`,
    );
    return found.map(({ id }) => id);
  }
}
