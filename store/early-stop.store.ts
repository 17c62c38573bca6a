import type { DataSource } from 'typeorm';
import type { ErrorClass } from '../contracts/attempt.js';
import { EarlyStopPlan, type StoppedEarly } from '../contracts/early-stop.js';
import type { Outcome } from '../contracts/run.js';
import type { CaseFilter } from '../contracts/scorecard.js';
import { type EarlyCase, type EarlyTrial, earlyCase } from '../policy/early-stop/early-case.js';
import type { SelectedCase } from '../policy/early-stop/fit.js';
import { lockOpenRuns } from './open-runs.js';
import { filterParams, selectedCases } from './selected-cases.js';
import { affected, type Queryable, row, rows, transaction } from './sql.js';

export interface EarlyStopState {
  plan: EarlyStopPlan;
  /** It is decided already, and what had no outcome then may still be to cancel. */
  isStopped: boolean;
}

interface CaseRow {
  case_id: string;
  tags: string[];
  trials: TrialRow[];
  before: TrialRow[] | null;
}

interface TrialRow {
  outcome: Outcome | null;
  errorClass: ErrorClass | null;
  isDecided: boolean;
}

const toTrial = ({ outcome, errorClass, isDecided }: TrialRow): EarlyTrial => ({
  ...(outcome && { outcome }),
  ...(errorClass && { errorClass }),
  isDecided,
});

/** The trials of each case of a scorecard. */
const casesOf = (scorecard: string): string => `
  SELECT case_id, min(ordinal) AS ordinal, min(dataset_pk) AS dataset_pk, min(case_ordinal) AS case_ordinal,
    json_agg(json_build_object('outcome', outcome, 'errorClass', error_class, 'isDecided', decided_by IS NOT NULL)) AS trials
  FROM runs WHERE scorecard_id = ${scorecard} GROUP BY case_id`;

const toCase = ({ case_id: caseId, tags, trials, before }: CaseRow, needed: number | undefined): EarlyCase =>
  earlyCase({ caseId, tags, trials: trials.map(toTrial), ...(before && { before: before.map(toTrial) }) }, needed);

export class EarlyStopStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Absent: it does not end early, is finished or is being cancelled. */
  async find(id: string): Promise<EarlyStopState | undefined> {
    const found = await row<{ early_stop: unknown; is_stopped: boolean }>(
      this.dataSource,
      `SELECT early_stop, stopped_early IS NOT NULL AS is_stopped FROM scorecards
       WHERE id = $1 AND early_stop IS NOT NULL AND finished_at IS NULL AND cancel_requested_at IS NULL`,
      [id],
    );
    return found && { plan: EarlyStopPlan.parse(found.early_stop), isStopped: found.is_stopped };
  }

  /** All cases of a scorecard, in its order. Nothing: its baseline is not what it was, as when it was purged. */
  async cases(id: string, { policy, baseline }: EarlyStopPlan): Promise<EarlyCase[] | undefined> {
    const found = await rows<CaseRow>(
      this.dataSource,
      `SELECT r.case_id, c.tags, r.trials, b.trials AS before FROM (${casesOf('$1')}) r
       JOIN dataset_cases c ON c.dataset_pk = r.dataset_pk AND c.ordinal = r.case_ordinal
       LEFT JOIN (${casesOf('$2')}) b ON b.case_id = r.case_id ORDER BY r.ordinal`,
      [id, baseline],
    );
    const isWhole = !baseline || found.every(({ before }) => before !== null);
    return isWhole ? found.map((stored) => toCase(stored, policy.rules.minTrialsPassed)) : undefined;
  }

  /** What a scorecard of this dataset is to have, and the hash of the dataset's content. */
  async selection(datasetPk: number, filter: CaseFilter): Promise<{ datasetHash: string; cases: SelectedCase[] }> {
    const columns = `case_id AS "caseId", tags, md5(coalesce(content -> 'graders', '[]')::text) AS "gradersHash"`;
    const cases = await rows<SelectedCase>(this.dataSource, selectedCases(columns), filterParams(datasetPk, filter));
    const dataset = await row<{ hash: string }>(
      this.dataSource,
      'SELECT content_hash AS hash FROM datasets WHERE pk = $1',
      [datasetPk],
    );
    return { datasetHash: dataset?.hash ?? '', cases };
  }

  /** Whether it ends with this verdict: one that is finished, is being cancelled, or has nothing left to end, does not. */
  async stop(id: string, verdict: Omit<StoppedEarly, 'at'>): Promise<boolean> {
    const isStopped = await transaction(this.dataSource, async (db) => {
      const open = await lockOpenRuns(db, id);
      if (open.length === 0 || !(await noteStop(db, id, verdict))) return false;
      await cancel(db, open);
      return true;
    });
    return isStopped && this.cancelRest(id);
  }

  /** Cancels what has no outcome. A run that leaves an attempt has it removed like one that settled. */
  async cancelRest(id: string): Promise<true> {
    const next = (): Promise<number> =>
      transaction(this.dataSource, async (db) => {
        const open = await lockOpenRuns(db, id);
        await cancel(db, open);
        return open.length;
      });
    while ((await next()) > 0);
    return true;
  }
}

async function noteStop(db: Queryable, scorecardId: string, verdict: Omit<StoppedEarly, 'at'>): Promise<boolean> {
  const noted = await affected(
    db,
    `UPDATE scorecards SET stopped_early = coalesce(stopped_early, $2)
     WHERE id = $1 AND finished_at IS NULL AND cancel_requested_at IS NULL`,
    [scorecardId, JSON.stringify({ ...verdict, at: new Date().toISOString() })],
  );
  return noted > 0;
}

const cancel = (db: Queryable, runIds: string[]): Promise<number> =>
  affected(
    db,
    `UPDATE runs SET settled_at = now(), settled_attempt = open_attempt, open_attempt = NULL, outcome = 'cancelled',
       reason = 'the scorecard ended early: its verdict was certain'
     WHERE id = ANY ($1) AND outcome IS NULL`,
    [runIds],
  );
