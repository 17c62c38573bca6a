import type { DataSource } from 'typeorm';
import type { FenceRefusal } from '../contracts/attempt.js';
import { ATTEMPT_COLUMNS, type AttemptRow } from './attempt-row.js';
import { type Queryable, retrying, row, transaction, violated } from './sql.js';

/** An attempt to be opened under a grant. */
export interface AttemptOpening {
  runId: string;
  attempt: number;
  poolId: string;
  holder: string;
  seq: number;
  epoch: number;
  allocation: string;
  nonce: string;
  /** For local attempts: the host they belong to. */
  hostId?: string;
}

/** Thrown inside the transaction to roll it back; the reason is read afterwards. */
class Refused extends Error {
  constructor(readonly refusal: FenceRefusal) {
    super('the fence refused');
  }
}

const STALE: FenceRefusal = { reason: 'stale-grant' };

/**
 * The fence, READ COMMITTED, given up at the first step that finds nothing:
 * 1. with a quota: lock the workspace, then, with a snapshot taken after that, count its open runs,
 * 2. share the pool's row at the epoch of the grant: whoever raises the epoch waits for us, or we are refused,
 * 3. open the run and record the attempt under its lease.
 * The order of locks is workspaces, pools, runs, here and everywhere. Without a quota, one statement does it all.
 */
export async function passFence(dataSource: DataSource, opening: AttemptOpening): Promise<AttemptRow | FenceRefusal> {
  try {
    const opened = await retrying(() => openRun(dataSource, opening, 'no-quota'));
    if (opened) return opened;
    return await transaction(dataSource, async (db) => {
      await requireQuota(db, opening.runId);
      const counted = await openRun(db, opening, 'quota-counted');
      // Stale, settled, cancelled or open: the caller reads which.
      if (!counted) throw new Refused(STALE);
      return counted;
    });
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    // The lease or the number of the attempt is used up.
    if (violated(error)) return STALE;
    throw error;
  }
}

async function requireQuota(db: Queryable, runId: string): Promise<void> {
  // Not FOR UPDATE: that would also block every insert that refers to the workspace.
  const quota = await row<{ id: string; max_running: number }>(
    db,
    `SELECT id, max_running FROM workspaces
     WHERE id = (SELECT workspace_id FROM runs WHERE id = $1) AND max_running IS NOT NULL FOR NO KEY UPDATE`,
    [runId],
  );
  // Then the one statement has found nothing to open; or the quota was lifted since, and asking again helps.
  if (!quota) throw new Refused(STALE);
  const open = await row<{ count: number }>(
    db,
    'SELECT count(*) AS count FROM runs WHERE workspace_id = $1 AND open_attempt IS NOT NULL',
    [quota.id],
  );
  if ((open?.count ?? 0) >= quota.max_running) throw new Refused({ reason: 'quota', limit: quota.max_running });
}

/** Steps 2 and 3; `no-quota`: unless the workspace has one. */
function openRun(
  db: Queryable,
  { runId, attempt, poolId, epoch, ...lease }: AttemptOpening,
  given: 'no-quota' | 'quota-counted',
): Promise<AttemptRow | undefined> {
  const params = [runId, attempt, poolId, lease.holder, lease.seq, lease.allocation, lease.nonce, lease.hostId ?? null];
  return row<AttemptRow>(
    db,
    `WITH pool AS (
       SELECT id FROM pools WHERE id = $3 AND epoch = $9 FOR SHARE
     ), opened AS (
       UPDATE runs r SET open_attempt = $2 FROM pool
       WHERE r.id = $1 AND r.pool_id = pool.id AND outcome IS NULL AND cancel_requested_at IS NULL
         AND open_attempt IS NULL AND ($10 OR NOT EXISTS (
           SELECT FROM workspaces w WHERE w.id = r.workspace_id AND max_running IS NOT NULL
         ))
       RETURNING memory_mb, cpu_millicores
     )
     INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, memory_mb, cpu_millicores, allocation, nonce, host_id)
     SELECT $1, $2, $3, $4, $5, memory_mb, cpu_millicores, $6, $7, $8 FROM opened
     RETURNING ${ATTEMPT_COLUMNS}`,
    [...params, epoch, given === 'quota-counted'],
  );
}

/** An attempt to go on with. */
interface Standing {
  attempt: AttemptRow;
  isCancelRequested: boolean;
}

interface RunRow {
  outcome: string | null;
  settled_attempt: number | null;
  open_attempt: number | null;
  is_cancel_requested: boolean;
  last_attempt: number | null;
}

/**
 * Why the run itself lets no attempt be opened, first that applies; else `refusal`, which is the pool's or the quota's.
 * An attempt that is open under this number is returned to be adopted, whatever epoch its grant was of; so is one that
 * belongs to a run with an outcome and still waits to be closed: to be removed, if its end is not known.
 */
export async function standingOf(
  dataSource: DataSource,
  { runId, attempt, holder }: AttemptOpening,
  refusal: FenceRefusal,
): Promise<Standing | FenceRefusal> {
  const run = await row<RunRow>(
    dataSource,
    `SELECT outcome, settled_attempt, open_attempt, cancel_requested_at IS NOT NULL AS is_cancel_requested,
       (SELECT max(attempt) FROM attempts WHERE run_id = $1) AS last_attempt
     FROM runs WHERE id = $1`,
    [runId],
  );
  if (!run) throw new Error(`there is no run ${runId}`);
  if (run.outcome !== null) {
    const unclosed =
      run.settled_attempt === attempt ? await unclosedOf(dataSource, { runId, attempt, holder }) : undefined;
    if (unclosed) return { attempt: unclosed, isCancelRequested: unclosed.end_kind === null };
    return { reason: run.outcome === 'cancelled' ? 'cancelled' : 'settled' };
  }
  if (run.open_attempt !== null && run.open_attempt !== attempt) {
    return { reason: 'renumber', attempt: run.open_attempt, isOpen: true };
  }
  if (run.open_attempt === attempt) {
    const open = await row<AttemptRow>(
      dataSource,
      `SELECT ${ATTEMPT_COLUMNS} FROM attempts WHERE run_id = $1 AND attempt = $2 AND holder = $3`,
      [runId, attempt, holder],
    );
    return open ? { attempt: open, isCancelRequested: run.is_cancel_requested } : STALE;
  }
  if (run.is_cancel_requested) return { reason: 'cancelled' };
  if (run.last_attempt !== null && run.last_attempt >= attempt) {
    return { reason: 'renumber', attempt: run.last_attempt + 1, isOpen: false };
  }
  return refusal;
}

/** An attempt whose removal is not confirmed. */
const unclosedOf = (
  dataSource: DataSource,
  { runId, attempt, holder }: Pick<AttemptOpening, 'runId' | 'attempt' | 'holder'>,
) =>
  row<AttemptRow>(
    dataSource,
    `SELECT ${ATTEMPT_COLUMNS} FROM attempts
     WHERE run_id = $1 AND attempt = $2 AND holder = $3 AND closed_at IS NULL`,
    [runId, attempt, holder],
  );
