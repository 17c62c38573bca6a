import type { DataSource } from 'typeorm';
import type { Phase } from '../contracts/straggler.js';
import { rows } from './sql.js';

/** What the database knows of a run that a ledger names. */
export interface LedgerRun {
  id: string;
  workspace: string;
  caseId: string;
  scorecard: string | null;
  phase: Phase | null;
  attempt: number | null;
  timeoutSec: number;
  /** Since its cluster confirmed the job, ms. */
  runningMs: number | null;
}

/** The runs behind the entries of a ledger. */
export class HolderStore {
  constructor(private readonly dataSource: DataSource) {}

  async runs(ids: readonly string[]): Promise<Map<string, LedgerRun>> {
    const found = await rows<LedgerRun>(
      this.dataSource,
      `SELECT r.id, r.workspace_id AS workspace, r.case_id AS "caseId", r.scorecard_id AS scorecard,
         CASE WHEN r.open_attempt IS NULL THEN NULL WHEN a.end_kind IS NOT NULL THEN 'finishing'
              WHEN a.submitted_at IS NULL THEN 'starting' ELSE 'running' END AS phase,
         r.open_attempt AS attempt, (coalesce(r.own_case, c.content) ->> 'timeoutSec')::int AS "timeoutSec",
         (extract(epoch FROM now() - a.submitted_at) * 1000)::bigint AS "runningMs"
       FROM runs r
       LEFT JOIN dataset_cases c ON c.dataset_pk = r.dataset_pk AND c.ordinal = r.case_ordinal
       LEFT JOIN attempts a ON a.run_id = r.id AND a.attempt = r.open_attempt
       WHERE r.id = ANY ($1)`,
      [ids],
    );
    return new Map(found.map((run) => [run.id, run]));
  }

  /** Which of these scorecards are the workspace's. */
  async ownScorecards(workspaceId: string, ids: readonly string[]): Promise<string[]> {
    const sql = 'SELECT id FROM scorecards WHERE workspace_id = $1 AND id = ANY ($2)';
    return (await rows<{ id: string }>(this.dataSource, sql, [workspaceId, ids])).map(({ id }) => id);
  }
}
