import type { DataSource } from 'typeorm';
import type { OldestRun, RunEvent } from '../contracts/scorecard-events.js';
import type { Stragglers } from '../contracts/straggler.js';
import { type Progress, progressOf } from './scorecard-view.js';
import { parseSnapshot } from './snapshot.js';
import { row, rows } from './sql.js';
import { stragglersOf } from './stragglers.js';

/** The settled runs that one snapshot sees and an earlier one did not, by transaction and number. */
export interface SettledRange {
  /** Absent: from the first settled run on. */
  seen?: string;
  to: string;
  /** The last one that is known already. */
  after?: { xid: string; run: number };
}

/** A settled run and its place in a range. */
export interface SettledRun {
  xid: string;
  run: RunEvent;
}

type SettledRow = Omit<RunEvent, 'run'> & { ordinal: number; xid: string };

const SETTLED = `
  SELECT ordinal, id, case_id AS "caseId", trial, outcome, error_class AS "errorClass", error_code AS "errorCode", reason,
    settled_xid::text AS xid, settled_xid
  FROM runs
  WHERE scorecard_id = $1 AND pg_visible_in_snapshot(settled_xid, $2::pg_snapshot)
    AND (settled_xid, ordinal) > ($3::xid8, $4::int)`;
const IN_ORDER = 'ORDER BY settled_xid, ordinal LIMIT $5';

/** What is told of a scorecard while it runs. */
export class ProgressStore {
  constructor(private readonly dataSource: DataSource) {}

  /** How it stands, and the snapshot that its numbers are of. */
  progress(scorecardId: string): Promise<Progress | undefined> {
    return progressOf(this.dataSource, scorecardId);
  }

  /**
   * A page of a range. Whether a run is in it depends on the transaction that settled it and on nothing else: not on
   * clocks, nor on the order of commits, and a transaction that stays open elsewhere holds nothing up.
   */
  async settled(scorecardId: string, { seen, to, after }: SettledRange, limit: number): Promise<SettledRun[]> {
    const { xmax = 0n, open = [] } = parseSnapshot(seen ?? '') ?? {};
    const found = await rows<SettledRow>(
      this.dataSource,
      `SELECT * FROM (
         (${SETTLED} AND settled_xid >= $6::xid8 ${IN_ORDER}) UNION ALL
         (${SETTLED} AND settled_xid = ANY ($7::xid8[]) ${IN_ORDER})
       ) AS unseen ${IN_ORDER}`,
      [scorecardId, to, after?.xid ?? '0', after?.run ?? -1, limit, String(xmax), open.map(String)],
    );
    return found.map(({ ordinal, id, caseId, trial, outcome, errorClass, errorCode, reason, xid }) => ({
      xid,
      run: { run: ordinal, id, caseId, trial, outcome, errorClass, errorCode, reason },
    }));
  }

  stragglers(scorecardId: string, limit: number): Promise<Stragglers> {
    return stragglersOf(this.dataSource, scorecardId, limit);
  }

  /** The run whose open attempt is the oldest. */
  oldestRun(scorecardId: string): Promise<OldestRun | undefined> {
    return row<OldestRun>(
      this.dataSource,
      `SELECT r.ordinal AS run, r.case_id AS "caseId", r.trial,
         (extract(epoch FROM now() - a.opened_at) * 1000)::bigint AS "ageMs"
       FROM scorecards s
       JOIN runs r ON r.workspace_id = s.workspace_id AND r.scorecard_id = s.id AND r.open_attempt IS NOT NULL
       JOIN attempts a ON a.run_id = r.id AND a.attempt = r.open_attempt
       WHERE s.id = $1 ORDER BY a.opened_at LIMIT 1`,
      [scorecardId],
    );
  }
}
