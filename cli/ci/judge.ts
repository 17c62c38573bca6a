import { randomUUID } from 'node:crypto';
import type { GateResult } from '../../contracts/gate.js';
import type { ReportLink, ScorecardReportData } from '../../reports/data.js';
import { CliError } from '../failures.js';
import { jsonBody } from '../http.client.js';
import { list } from '../pages.js';
import { pathOf, readNotPassed } from '../scorecard-wait.js';
import type { Session } from '../session.js';
import { ComparisonReply, GateReply, TrialReply } from '../verdict-wire.js';
import { RunReply, type ScorecardReply } from '../wire.js';
import { type Patience, patiently, patientReader } from './patience.js';
import type { Policy } from './policy.js';

/** Changes that a comparison is asked for. */
const MOST_CHANGES = 1_000;
/** The most runs a scorecard has. */
const ALL_RUNS = 100_000;
const MOST_NOT_PASSED = 200;

/** `all` costs a page for each 500 of them. */
export type WantedRuns = 'all' | 'not-passed';

/** What the platform's gate says of a finished scorecard, and keeps: once, however often it is asked. */
export async function judge(
  session: Session,
  patience: Patience,
  candidate: string,
  { policy, baseline, on }: { policy: Policy['asked']; baseline?: string | undefined; on?: string | undefined },
): Promise<GateResult> {
  const body = jsonBody({ candidate, policy, baseline, on });
  const headers = { 'idempotency-key': randomUUID() };
  const { reply } = await patiently(session, patience, () =>
    session.client.post('/scorecards/gate', GateReply, { body, headers }),
  );
  return reply;
}

export interface Reported {
  scorecard: ScorecardReply;
  baseline?: string | undefined;
  on?: string | undefined;
  gate?: GateResult | undefined;
  runs: WantedRuns;
}

/** Reads everything else that a report tells of a finished scorecard. */
export async function reportDataOf(
  session: Session,
  patience: Patience,
  wanted: Reported,
): Promise<ScorecardReportData> {
  const { scorecard, gate, baseline, on } = wanted;
  const { client } = session;
  const { id, trials } = scorecard;
  const read = <Answer>(call: () => Promise<Answer>): Promise<Answer> => patiently(session, patience, call);
  const query = { baseline, candidate: id, on, limit: MOST_CHANGES };
  const comparison =
    baseline === undefined
      ? undefined
      : await read(() => client.get('/scorecards/diff', ComparisonReply, { query }).catch(unlessIncomparable));
  const trialReport = trials > 1 ? await read(() => client.get(pathOf(id, '/trials'), TrialReply)) : undefined;
  const reader = patientReader(session, patience);
  const { items: runs } =
    wanted.runs === 'all'
      ? await list(reader, pathOf(id, '/cases'), RunReply, { limit: ALL_RUNS })
      : await readNotPassed(reader, id, MOST_NOT_PASSED);
  const links = linksOf(session, id, gate);
  return { scorecard, runs, gate, comparison: comparison?.reply, trials: trialReport?.reply, links };
}

/** A gate says why by itself, where one was asked. */
function unlessIncomparable(error: unknown): undefined {
  if (!(error instanceof CliError) || error.problem?.code !== 'NOT_COMPARABLE') throw error;
}

function linksOf({ client }: Session, id: string, gate?: GateResult): ReportLink[] {
  const links = [{ title: 'the scorecard, as JSON', url: `${client.url}${pathOf(id)}` }];
  if (gate) links.push({ title: 'the verdict, as JSON', url: `${client.url}/gates/${encodeURIComponent(gate.id)}` });
  return links;
}
