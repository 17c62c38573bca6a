import type { DataSource } from 'typeorm';
import type { Lease, Ticket, WorkClass } from '../contracts/admission.js';
import { PlatformError } from '../contracts/errors.js';
import type { Envelope, RuntimeKind } from '../contracts/runtime.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { row, rows, transaction } from './sql.js';

export interface Rebuilt {
  /** Grants of earlier epochs open no attempt any more. */
  epoch: number;
  live: Lease[];
  waiting: Ticket[];
}

/** The limits in force, with a version that rises with every change of them. */
export interface PoolLimits {
  version: number;
  envelope: Envelope;
  kind: RuntimeKind;
  /** Of the ledger that grants now. */
  epoch: number;
}

const MAX_TICKETS = 5_000;

const noPool = (poolId: string) => new PlatformError('NOT_FOUND', `there is no pool ${poolId}`);

export class PoolStore {
  constructor(private readonly dataSource: DataSource) {}

  async envelope(poolId: string): Promise<PoolLimits> {
    const found = await row<DemandRow & { kind: RuntimeKind; envelope_version: number; slots: number; epoch: number }>(
      this.dataSource,
      'SELECT kind, envelope_version, slots, memory_mb, cpu_millicores, epoch FROM pools WHERE id = $1',
      [poolId],
    );
    if (!found) throw noPool(poolId);
    const { memoryMb, cpuMillicores } = demandOfRow(found);
    return {
      version: found.envelope_version,
      kind: found.kind,
      epoch: found.epoch,
      envelope: {
        slots: found.slots,
        ...(memoryMb !== undefined && { memoryMb }),
        ...(cpuMillicores !== undefined && { cpuMillicores }),
      },
    };
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
      const live = await rows<DemandRow & { holder: string; to: string; seq: number; opened_at: Date }>(
        db,
        `SELECT a.holder, coalesce(r.asked_by, a.holder) AS "to", a.seq, a.memory_mb, a.cpu_millicores, a.opened_at
         FROM attempts a JOIN runs r ON r.id = a.run_id WHERE a.pool_id = $1 AND a.closed_at IS NULL ORDER BY a.seq`,
        [poolId],
      );
      const waiting = await rows<DemandRow & { id: string; to: string; class: WorkClass; asked_at: Date }>(
        db,
        `SELECT id, asked_by AS "to", class, memory_mb, cpu_millicores, asked_at FROM runs
         WHERE pool_id = $1 AND asked_at IS NOT NULL AND asked_by IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL
         ORDER BY asked_at, id LIMIT $2`,
        [poolId, MAX_TICKETS],
      );
      return {
        epoch: pool.epoch,
        live: live.map((lease) => ({
          holder: lease.holder,
          to: lease.to,
          seq: lease.seq,
          demand: demandOfRow(lease),
          grantedAt: lease.opened_at.getTime(),
        })),
        waiting: waiting.map((run) => ({
          holder: `case:${run.id}`,
          to: run.to,
          class: run.class,
          demand: demandOfRow(run),
          askedAt: run.asked_at.getTime(),
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
