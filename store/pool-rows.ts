import type { Demand, Lease, Ticket, WorkClass } from '../contracts/admission.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import { type Queryable, rows } from './sql.js';

/** What the duration of a case depends on. */
export interface DurationKey {
  poolId: string;
  harnessPk: number;
  datasetPk?: number;
}

export type WithDemand = DemandRow & { session_pool: string | null };

/** Whose case it is, by the keys of harness and dataset. */
export interface OfCase {
  harness_pk: number;
  dataset_pk: number | null;
}

interface HeldRow extends WithDemand, OfCase {
  to: string;
  workspace_id: string;
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

export const durationKey = (poolId: string, { harness_pk, dataset_pk }: OfCase): DurationKey => ({
  ...{ poolId, harnessPk: harness_pk },
  ...(dataset_pk !== null && { datasetPk: dataset_pk }),
});

/** What a ticket takes: what its run declares, and a session where its harness needs one. */
export const ticketDemand = (stored: WithDemand): Demand => ({
  ...demandOfRow(stored),
  ...(stored.session_pool !== null && { sessionPool: stored.session_pool }),
});

const HELD = 'r.workspace_id, r.harness_pk, r.dataset_pk, h.session_pool';

/** All leases. */
const EVERY = { after: 0, upTo: Number.MAX_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER };

/** Live attempts of a pool, or those whose leases are numbered from above `after` to `upTo`: each holds a lease. */
export async function liveLeases(
  db: Queryable,
  poolId: string,
  { after, upTo, most } = EVERY,
): Promise<{ lease: Lease; of: OfCase }[]> {
  const found = await rows<LeaseRow>(
    db,
    `SELECT a.holder, coalesce(r.asked_by, a.holder) AS "to", ${HELD}, a.seq, a.memory_mb, a.cpu_millicores, a.opened_at
     FROM attempts a JOIN runs r ON r.id = a.run_id JOIN harnesses h ON h.pk = r.harness_pk
     WHERE a.pool_id = $1 AND a.closed_at IS NULL AND a.seq > $2 AND a.seq <= $3 ORDER BY a.seq LIMIT $4`,
    [poolId, after, upTo, most],
  );
  return found.map((row) => ({
    of: row,
    lease: {
      ...{ holder: row.holder, to: row.to, workspace: row.workspace_id, seq: row.seq },
      demand: ticketDemand(row),
      grantedAt: row.opened_at.getTime(),
    },
  }));
}

/** Waiting runs of a pool in order of arrival: each has a ticket. */
export async function waitingTickets(
  db: Queryable,
  poolId: string,
  limit: number,
): Promise<{ ticket: Ticket; of: OfCase }[]> {
  const found = await rows<TicketRow>(
    db,
    `SELECT r.id, r.asked_by AS "to", ${HELD}, r.class, r.memory_mb, r.cpu_millicores, r.asked_at, r.promoted_at
     FROM runs r JOIN harnesses h ON h.pk = r.harness_pk
     WHERE r.pool_id = $1 AND r.asked_at IS NOT NULL AND r.asked_by IS NOT NULL AND r.open_attempt IS NULL
       AND r.outcome IS NULL
     ORDER BY r.asked_at, r.scorecard_id, r.ordinal, r.id LIMIT $2`,
    [poolId, limit],
  );
  return found.map((row) => ({
    of: row,
    ticket: {
      ...{ holder: `case:${row.id}`, to: row.to, workspace: row.workspace_id, class: row.class },
      demand: ticketDemand(row),
      askedAt: row.asked_at.getTime(),
      ...(row.promoted_at && { promotedAt: row.promoted_at.getTime() }),
    },
  }));
}
