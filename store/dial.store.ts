import type { DataSource } from 'typeorm';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { Envelope } from '../contracts/runtime.js';
import { dialAt } from '../policy/admission/limits.js';
import { OPEN, type SetDial } from '../policy/dial.js';
import { auditWithin } from './audit-draft.js';
import { contentHash } from './content-hash.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { DIAL_COLUMNS, type DialRow, dialOfRow } from './dial-row.js';
import type { ChangedLimits } from './pool-limits.js';
import { type Queryable, row, transaction } from './sql.js';

/** The pool of a runtime, and what is set for it. */
export interface Dialled {
  poolId: string;
  owner: string;
  runtimeId: string;
  /** Of the latest version. */
  envelope: Envelope;
  /** `OPEN` once it is over. */
  dial: SetDial;
}

interface PoolRow extends DialRow, DemandRow {
  id: string;
  workspace_id: string;
  runtime_id: string;
  slots: number;
  dial_reason: string | null;
  dial_by: string | null;
  now_ms: number;
}

const SELECT = `SELECT id, workspace_id, runtime_id, slots, memory_mb, cpu_millicores, ${DIAL_COLUMNS}, dial_reason, dial_by,
  extract(epoch FROM now()) * 1000 AS now_ms FROM pools`;

const dateOf = (ms: number | undefined): Date | null => (ms === undefined ? null : new Date(ms));

function dialOf(pool: PoolRow): SetDial {
  const { dial_reason: reason, dial_by: by } = pool;
  const dial = dialAt(dialOfRow(pool), Number(pool.now_ms));
  return dial ? { ...dial, ...(reason !== null && { reason }), ...(by !== null && { by }) } : OPEN;
}

const toDialled = (pool: PoolRow): Dialled => ({
  poolId: pool.id,
  owner: pool.workspace_id,
  runtimeId: pool.runtime_id,
  envelope: { slots: pool.slots, ...demandOfRow(pool) },
  dial: dialOf(pool),
});

/** What is set for runtimes above their specs. */
export class DialStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Of the runtime that the workspace means by this id: its own, else the shared one. */
  async find(workspaceId: string, runtimeId: string): Promise<Dialled | undefined> {
    const found = await row<PoolRow>(
      this.dataSource,
      `${SELECT} WHERE runtime_id = $2 AND workspace_id IN ($1, $3) ORDER BY workspace_id = $1 DESC LIMIT 1`,
      [workspaceId, runtimeId, SHARED_WORKSPACE],
    );
    return found && toDialled(found);
  }

  /** `decide` gives the dial that follows the one in force, or throws. Its limits are read under the pool's lock. */
  async turn(
    poolId: string,
    decide: (dialled: Dialled) => SetDial,
  ): Promise<{ dialled: Dialled; changed: ChangedLimits }> {
    return transaction(this.dataSource, async (db) => {
      const locked = await row<PoolRow>(db, `${SELECT} WHERE id = $1 FOR NO KEY UPDATE`, [poolId]);
      if (!locked) throw new Error(`there is no pool ${poolId}`);
      const before = toDialled(locked);
      const dial = decide(before);
      const envelopeVersion = await this.write(db, poolId, dial);
      const { runtimeId } = before;
      await auditWithin(db, { object: runtimeId, before: contentHash(before.dial), after: contentHash(dial) });
      return { dialled: { ...before, dial }, changed: { poolId, envelopeVersion } };
    });
  }

  private async write(
    db: Queryable,
    poolId: string,
    { mode, limits, until, limitsUntil, reason, by }: SetDial,
  ): Promise<number> {
    const written = await row<{ envelope_version: number }>(
      db,
      `UPDATE pools SET dial_mode = $2, dial_slots = $3, dial_memory_mb = $4, dial_cpu_millicores = $5, dial_until = $6,
         dial_limits_until = $7, dial_reason = $8, dial_by = $9, envelope_version = envelope_version + 1, limits_at = now()
       WHERE id = $1 RETURNING envelope_version`,
      [
        ...[poolId, mode, limits.slots ?? null, limits.memoryMb ?? null, limits.cpuMillicores ?? null],
        ...[dateOf(until), dateOf(limitsUntil), reason ?? null, by ?? null],
      ],
    );
    return written?.envelope_version ?? 0;
  }
}
