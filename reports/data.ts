import type { Comparison, TrialReport } from '../contracts/comparison.js';
import type { StoppedEarly } from '../contracts/early-stop.js';
import type { GateResult } from '../contracts/gate.js';
import type { RunView } from '../contracts/run.js';
import type { ScorecardView } from '../contracts/scorecard.js';

type Told = 'id' | 'status' | 'dataset' | 'harness' | 'runtime' | 'trials' | 'metadata' | 'counts' | 'rates';

/** Of a scorecard, what a report tells. */
export type ReportedScorecard = Pick<ScorecardView, Told | 'createdAt' | 'finishedAt' | 'rerolls'> & {
  stoppedEarly?: StoppedEarly | null | undefined;
};

export type ReportedRun = Pick<
  RunView,
  'id' | 'caseId' | 'trial' | 'outcome' | 'errorClass' | 'errorCode' | 'reason' | 'decidedBy' | 'scores' | 'durationMs'
>;

/** Where to read on. The address is ours or the caller's own, never of a job. */
export interface ReportLink {
  title: string;
  url: string;
}

/** Everything a report is made of. */
export interface ScorecardReportData {
  scorecard: ReportedScorecard;
  /** Those that a report should list; there may be more. */
  runs: readonly ReportedRun[];
  comparison?: Comparison | undefined;
  gate?: GateResult | undefined;
  trials?: TrialReport | undefined;
  /** Why there is no verdict, where one was asked for. */
  remark?: string | undefined;
  links: readonly ReportLink[];
}
