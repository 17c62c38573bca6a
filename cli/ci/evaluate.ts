import type { ScorecardReportData } from '../../reports/data.js';
import { EXIT, type ExitCode, exitCodeOfVerdict } from '../exit-codes.js';
import { CliError, stoppedByHand, stoppedWaiting, usageError } from '../failures.js';
import { jsonBody } from '../http.client.js';
import { pathOf } from '../scorecard-wait.js';
import type { Session } from '../session.js';
import { plain } from '../text.js';
import { follow } from '../watch.js';
import { ScorecardReply, Submitted } from '../wire.js';
import { type BaselineRequest, findBaseline, wantedEntries } from './baseline.js';
import { judge, reportDataOf, type WantedRuns } from './judge.js';
import { type Patience, patiently } from './patience.js';
import { defaultRules, needsBaseline, type Policy, readPolicy } from './policy.js';

/** After the deadline of its cases, so long for the platform to end them. */
const LATE_MS = 120_000;
const CLOCK_MS = 1_000;

export interface EvaluationRequest extends BaselineRequest {
  /** The body of `POST /scorecards`, but for what follows. */
  scorecard: Record<string, unknown>;
  /** Makes the submit one, however often it is sent. */
  idempotencyKey: string;
  /** A file, or a registered policy. */
  policy?: string | undefined;
  on?: string | undefined;
  /** Ends the scorecard once its verdict is certain; `errorRate` absent: that of the platform. */
  earlyStop?: { errorRate?: number | undefined } | undefined;
  /** So long after the submit, cases without an outcome are ended. */
  timeoutSec?: number | undefined;
  patienceSec: number;
  /** Whether an interrupt cancels the scorecard. */
  isCancelling: boolean;
  runs: WantedRuns;
  /** Is told what was submitted. */
  onSubmitted?: (id: string) => Promise<void>;
}

export interface Evaluation {
  data: ScorecardReportData;
  exitCode: ExitCode;
}

/** What is settled before anything runs. */
interface Plan {
  policy: Policy;
  baseline: string | undefined;
}

/**
 * Submits a scorecard, waits for its end, and has it judged: each step goes on while the platform restarts, for as long
 * as patience lasts. Ctrl-C, or the end of the CI job, stops it.
 */
export async function evaluate(session: Session, request: EvaluationRequest): Promise<Evaluation> {
  const interrupt = new AbortController();
  const restore = session.terminal.onInterrupt(() => {
    interrupt.abort();
    restore();
  });
  const patience = { patienceMs: request.patienceSec * 1_000, signal: interrupt.signal };
  try {
    const plan = await prepare(session, patience, request);
    const id = await submitOnce(session, patience, request, plan);
    return await finish(session, patience, request, { ...plan, id });
  } finally {
    restore();
  }
}

async function prepare(session: Session, patience: Patience, request: EvaluationRequest): Promise<Plan> {
  const { policy: given, baseline: wanted, baselineBranch } = request;
  const isCompared = wanted !== undefined || baselineBranch !== undefined;
  const byDefault = defaultRules(isCompared);
  const policy =
    given === undefined ? { asked: byDefault, rules: byDefault } : await readPolicy(session, patience, given);
  if (needsBaseline(policy.rules) && !isCompared) {
    const nextStep = 'give --baseline <scorecard or pinned name>, or --baseline-branch <branch>';
    throw usageError('the policy speaks of regressions, which takes a baseline', nextStep);
  }
  const baseline = await findBaseline(session, patience, request);
  if (baseline !== undefined)
    session.note(`baseline: ${baseline}${wanted === baseline ? '' : ` (${wanted ?? `branch ${baselineBranch}`})`}`);
  else if (isCompared) session.note(`baseline: none yet: ${noBaseline(request)}`);
  return { policy, baseline };
}

const noBaseline = (request: EvaluationRequest): string =>
  `no completed scorecard of ${request.dataset} with ${request.harness} has the metadata ${wantedEntries(request).join(' ')}`;

/** Whole where it could only end early against another baseline: it may be the first of its kind, and the next one's. */
async function submitOnce(
  session: Session,
  patience: Patience,
  request: EvaluationRequest,
  { policy, baseline }: Plan,
): Promise<string> {
  const { earlyStop, dataset, harness } = request;
  const early = earlyStop && { policy: policy.asked, baseline, ...earlyStop };
  const { reply } = await submit(session, patience, request, early).catch((error: unknown) => {
    if (!early || !isOfBaseline(error)) throw error;
    session.note(`note: it runs to its end, whatever the verdict: ${plain(error.message)}`);
    return submit(session, patience, request);
  });
  for (const warning of reply.warnings) session.note(`note: ${plain(warning)}`);
  session.note(`${reply.id}: ${reply.cases} runs of ${dataset} with ${harness}`);
  return reply.id;
}

/** The answer may be lost with the connection: the same key again is the same scorecard. */
function submit(
  session: Session,
  patience: Patience,
  { scorecard, idempotencyKey, timeoutSec }: EvaluationRequest,
  earlyStop?: object,
) {
  const body = jsonBody({ ...scorecard, deadlineSec: timeoutSec, earlyStop });
  const headers = { 'idempotency-key': idempotencyKey };
  return patiently(session, patience, () => session.client.post('/scorecards', Submitted, { body, headers }));
}

/** Whether a submit was refused for nothing but the baseline of its early end: that is missing, or differs. */
function isOfBaseline(error: unknown): error is CliError {
  const faults = error instanceof CliError ? (error.problem?.errors ?? []) : [];
  return faults.length > 0 && faults.every(({ path }) => path === 'earlyStop.baseline');
}

async function finish(
  session: Session,
  patience: Patience,
  request: EvaluationRequest,
  { id, policy, baseline: found }: Plan & { id: string },
): Promise<Evaluation> {
  const { onSubmitted, on, runs } = request;
  try {
    if (onSubmitted) await patiently(session, patience, () => onSubmitted(id));
    const scorecard = await untilOver(session, patience, request, id);
    // Where the same submit was sent before, the newest of the branch may be this one.
    const isOwn = found === id;
    const baseline = isOwn ? await findBaseline(session, patience, request, id) : found;
    const isJudged = baseline !== undefined || !needsBaseline(policy.rules);
    const gate = isJudged ? await judge(session, patience, id, { policy: policy.asked, baseline, on }) : undefined;
    const data = await reportDataOf(session, patience, { scorecard, baseline, on, gate, runs });
    if (gate) return { data, exitCode: exitCodeOfVerdict(gate.effective) };
    const remark = `${noBaseline(request)}, which the policy needs: this scorecard is the first, and later ones are compared with it if that is its branch`;
    return { data: { ...data, remark }, exitCode: EXIT.unclear };
  } catch (error) {
    throw patience.signal.aborted ? await interrupted(session, request, id) : error;
  }
}

/** Waits for the end of the scorecard, and not much longer than the platform was given. */
async function untilOver(
  session: Session,
  { patienceMs, signal }: Patience,
  { timeoutSec }: EvaluationRequest,
  id: string,
): Promise<ScorecardReply> {
  const { terminal } = session;
  const late = new AbortController();
  const end = terminal.now() + (timeoutSec === undefined ? Number.POSITIVE_INFINITY : timeoutSec * 1_000 + LATE_MS);
  const stopClock = terminal.every(CLOCK_MS, () => {
    if (terminal.now() > end) late.abort();
  });
  try {
    return (await follow(session, id, patienceMs, AbortSignal.any([signal, late.signal]))).reply;
  } catch (error) {
    if (!late.signal.aborted || signal.aborted) throw error;
    const nextStep = `npx everdict scorecard watch ${id}, or npx everdict scorecard cancel ${id}`;
    throw new CliError(EXIT.unclear, `scorecard ${id} did not end within its ${timeoutSec} s`, nextStep);
  } finally {
    stopClock();
  }
}

/** Nobody looks at what a job that is gone has submitted, and it costs. */
async function interrupted(session: Session, { isCancelling }: EvaluationRequest, id: string): Promise<CliError> {
  if (!isCancelling) return stoppedWaiting('scorecard', id);
  try {
    await session.client.post(pathOf(id, '/cancel'), ScorecardReply);
    return stoppedByHand(`scorecard ${id} is cancelled`, `npx everdict scorecard show ${id}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const why = `scorecard ${id} may go on, as it could not be cancelled: ${error.message}`;
    return stoppedByHand(why, `npx everdict scorecard cancel ${id}`);
  }
}
