import type { DataSource } from 'typeorm';
import type { AdmissionLimits, Lease, Ticket, WorkspaceShare } from '../contracts/admission.js';
import { PlatformError } from '../contracts/errors.js';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import { MAX_TICKETS } from '../policy/admission/ledger.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { DIAL_COLUMNS, type DialRow, dialOfRow } from './dial-row.js';
import { type DurationKey, durationKey, liveLeases, waitingTickets } from './pool-rows.js';
import { row, rows, transaction } from './sql.js';

export interface Rebuilt {
  /** Grants of earlier epochs open no attempt any more. */
  epoch: number;
  live: Lease[];
  waiting: Ticket[];
  /** What their durations depend on, by holder. */
  keys: ReadonlyMap<string, DurationKey>;
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

/** Workspaces with a weight or quota of their own that one reading holds: those with work first. */
const MOST_SHARES = 1_000;
/** Paused scorecards that one reading holds: as many as a queue can hold tickets of. */
const MOST_PAUSED = MAX_TICKETS;

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
      `SELECT id, weight, max_running FROM workspaces w
       WHERE (weight <> 1 OR max_running IS NOT NULL) AND ($1 = $2 OR id = $1)
       ORDER BY id IN (SELECT workspace_id FROM scorecards WHERE finished_at IS NULL)
             OR EXISTS (SELECT FROM runs WHERE workspace_id = w.id AND scorecard_id IS NULL AND outcome IS NULL) DESC, id
       LIMIT $3`,
      [owner, SHARED_WORKSPACE, MOST_SHARES],
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
       ORDER BY paused_at, id LIMIT $2`,
      [poolId, MOST_PAUSED],
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
      const live = await liveLeases(db, poolId);
      const waiting = await waitingTickets(db, poolId, MAX_TICKETS);
      return {
        epoch: pool.epoch,
        live: live.map(({ lease }) => lease),
        waiting: waiting.map(({ ticket }) => ticket),
        keys: new Map([
          ...live.map(({ lease, of }) => [lease.holder, durationKey(poolId, of)] as const),
          ...waiting.map(({ ticket, of }) => [ticket.holder, durationKey(poolId, of)] as const),
        ]),
      };
    });
  }

  /** At most so many of what live attempts hold whose leases are numbered from above `after` to `upTo`. */
  async liveLeases(poolId: string, span: { after: number; upTo: number; most: number }): Promise<Lease[]> {
    return (await liveLeases(this.dataSource, poolId, span)).map(({ lease }) => lease);
  }

  /** Pools in which runs of this workspace wait, if it has a quota: what it gives back in one is room in all of them. */
  async waitingUnderQuota(workspaceId: string): Promise<string[]> {
    const found = await rows<{ id: string }>(
      this.dataSource,
      `SELECT p.id FROM pools p JOIN workspaces w ON w.id = $1 AND w.max_running IS NOT NULL
       WHERE EXISTS (SELECT FROM runs WHERE pool_id = p.id AND workspace_id = w.id AND asked_at IS NOT NULL
                     AND open_attempt IS NULL AND outcome IS NULL)`,
      [workspaceId],
    );
    return found.map(({ id }) => id);
  }

  /** Whether the cluster confirmed the job of the attempt under that lease. */
  async isSubmitted(poolId: string, seq: number): Promise<boolean> {
    const sql = 'SELECT FROM attempts WHERE pool_id = $1 AND seq = $2 AND submitted_at IS NOT NULL';
    return (await row(this.dataSource, sql, [poolId, seq])) !== undefined;
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
