import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { WorkflowClient } from '@temporalio/client';
import type { E2ePlatform } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { failedWorkflowTasks } from '../workflow-tasks.js';
import { type Diary, LOUD_BYTES, type SoakCase } from './jobs.js';
import { liveProcesses } from './process-table.js';

/** What the tables say of a run. */
interface RunRow {
  id: string;
  case_id: string;
  outcome: string | null;
  error_class: string | null;
  error_code: string | null;
  reason: string | null;
  open_attempt: number | null;
  settled_attempt: number | null;
}

interface AttemptRow {
  run_id: string;
  attempt: number;
  closed_at: Date | null;
  cleanup_pending_at: Date | null;
  answer: string | null;
  error_code: string | null;
  /** Bytes of each stream that the log accounts for, and chunks that overlap others and do not say the same. */
  out_end: number;
  err_end: number;
  contradicting: number;
  /** Chunks, but the first, before which something is missing. */
  holes: number;
}

export interface Checked {
  platform: E2ePlatform;
  id: string;
  runtime: string;
  slots: number;
  cases: SoakCase[];
  diary: Diary;
  /** Where the platform has its data. */
  dataDir: string;
  /** The fault itself takes jobs away, so that attempts end as infrastructure failures. */
  mayLoseJobs?: boolean;
}

/**
 * Checks a scorecard that has completed against what its jobs wrote to disk. Knows the tables, the histories and the
 * process table, and nothing of the code. Returns what is wrong.
 */
export async function violationsOf(checked: Checked): Promise<string[]> {
  const runs = await readRuns(checked);
  const attempts = await readAttempts(checked);
  return [
    ...(await outcomesNoted(checked)),
    ...runs.flatMap((run) => verdictFaults(checked, run, attempts)),
    ...startFaults(checked, runs, attempts),
    ...overlapFaults(checked),
    ...attempts.flatMap((attempt) => attemptFaults(checked, attempt)),
    ...leftOnHost(checked),
    ...(await leftInTemporal(checked)),
  ];
}

function readRuns({ platform, id, cases }: Checked): Promise<RunRow[]> {
  return platform
    .sql<RunRow>(
      `SELECT id, case_id, outcome, error_class, error_code, reason, open_attempt, settled_attempt
       FROM runs WHERE scorecard_id = $1 ORDER BY ordinal`,
      [id],
    )
    .then((runs) => {
      if (runs.length !== cases.length) throw new Error(`${runs.length} runs of ${cases.length} cases`);
      return runs;
    });
}

function readAttempts({ platform, id }: Checked): Promise<AttemptRow[]> {
  return platform.sql<AttemptRow>(
    `SELECT a.run_id, a.attempt, a.closed_at, a.cleanup_pending_at, a.error_code,
       convert_from(substr(a.answer, 1, 36), 'LATIN1') AS answer,
       coalesce(max(c.at + length(c.bytes)) FILTER (WHERE c.stream = 'stdout'), 0)::int AS out_end,
       coalesce(max(c.at + length(c.bytes)) FILTER (WHERE c.stream = 'stderr'), 0)::int AS err_end,
       count(*) FILTER (WHERE EXISTS (
         SELECT FROM log_chunks d,
           LATERAL (SELECT least(d.at + length(d.bytes), c.at + length(c.bytes)) - c.at AS bytes) shared
         WHERE d.run_id = c.run_id AND d.attempt = c.attempt AND d.stream = c.stream
           AND d.at < c.at AND d.at + length(d.bytes) > c.at
           AND substr(d.bytes, (c.at - d.at + 1)::int, shared.bytes::int) <> substr(c.bytes, 1, shared.bytes::int)
       ))::int AS contradicting,
       count(*) FILTER (WHERE c.at > 0 AND NOT EXISTS (
         SELECT FROM log_chunks d
         WHERE d.run_id = c.run_id AND d.attempt = c.attempt AND d.stream = c.stream
           AND d.at < c.at AND d.at + length(d.bytes) >= c.at
       ))::int AS holes
     FROM attempts a JOIN runs r ON r.id = a.run_id
     LEFT JOIN log_chunks c ON c.run_id = a.run_id AND c.attempt = a.attempt
     WHERE r.scorecard_id = $1 GROUP BY a.run_id, a.attempt ORDER BY a.run_id, a.attempt`,
    [id],
  );
}

/** By the database's own notes every run got its outcome once, and kept it. */
async function outcomesNoted({ platform, id }: Checked): Promise<string[]> {
  const odd = await platform.sql<{ id: string; notes: string }>(
    `SELECT r.id, string_agg(coalesce(o.before, 'none') || ' to ' || coalesce(o.after, 'none'), ', ' ORDER BY o.at) AS notes
     FROM runs r LEFT JOIN observed.outcomes o ON o.run_id = r.id WHERE r.scorecard_id = $1
     GROUP BY r.id HAVING count(o.run_id) <> 1 OR bool_or(o.before IS NOT NULL)`,
    [id],
  );
  return odd.map((each) => `${each.id} did not settle once: ${each.notes ?? 'never'}`);
}

/** The outcome is what the job wrote, and the stored answer the word of the very attempt that settled the run. */
function verdictFaults({ diary, cases, mayLoseJobs }: Checked, run: RunRow, attempts: AttemptRow[]): string[] {
  const spec = cases.find(({ id }) => id === run.case_id);
  const mine = diary.notes.filter(({ runId, attempt }) => runId === run.id && attempt === run.settled_attempt);
  const end = mine.find(({ what }) => what === 'end');
  const how = run.outcome === 'errored' ? `${run.error_class} ${run.error_code}` : `${run.outcome}`;
  const is = `${how} (${run.reason})`;
  const isLost = run.error_class === 'infra' && mayLoseJobs === true;
  const isTimedOut = !end && (spec?.kind === 'late' || spec?.kind === 'stubborn');
  const wanted = isTimedOut ? 'agent TIMEOUT' : end ? (end.exit === 0 ? 'passed' : 'failed') : 'an end on disk';
  if (!isLost && !is.startsWith(wanted)) return [`${run.id} (${spec?.task}) settled as ${is}, wanted ${wanted}`];
  const { answer } = attempts.find((each) => each.run_id === run.id && each.attempt === run.settled_attempt) ?? {};
  if (!isLost && answer !== mine[0]?.word) return [`${run.id} has the answer ${answer}, its job said ${mine[0]?.word}`];
  return [];
}

/** Each attempt started its job at most once, none after the one that settled the run, none that no row knows. */
function startFaults({ diary, mayLoseJobs }: Checked, runs: RunRow[], attempts: AttemptRow[]): string[] {
  const faults: string[] = [];
  const starts = new Map<string, number>();
  for (const { what, runId, attempt } of diary.notes) {
    if (what === 'start')
      starts.set(`${runId} attempt ${attempt}`, (starts.get(`${runId} attempt ${attempt}`) ?? 0) + 1);
  }
  const known = new Set(attempts.map(({ run_id, attempt }) => `${run_id} attempt ${attempt}`));
  for (const [name, times] of starts) {
    if (times > 1) faults.push(`${name} was started ${times} times`);
    if (!known.has(name)) faults.push(`${name} was started, and no row knows of it`);
  }
  for (const { id, settled_attempt, open_attempt } of runs) {
    const own = attempts.filter(({ run_id }) => run_id === id);
    if (open_attempt !== null) faults.push(`${id} still has an open attempt`);
    if (own.length !== settled_attempt) faults.push(`${id} has ${own.length} attempts, settled by ${settled_attempt}`);
    if (own.length > 1 && !mayLoseJobs) {
      faults.push(`${id} needed ${own.length} attempts: ${own.map(({ error_code }) => error_code).join(', ')}`);
    }
  }
  return faults;
}

/** A job that was killed could not note its end; the process table was watched for those. */
function overlapFaults({ diary, slots }: Checked): string[] {
  const { notes } = diary;
  const ended = new Set(notes.filter(({ what }) => what === 'end').map(({ word }) => word));
  let [now, most] = [0, 0];
  for (const { what, word } of notes) {
    if (!ended.has(word)) continue;
    now += what === 'start' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most > slots ? [`${most} jobs ran at once on ${slots} slots, by their own notes`] : [];
}

function attemptFaults({ cases, mayLoseJobs }: Checked, row: AttemptRow): string[] {
  const faults: string[] = [];
  const name = `${row.run_id} attempt ${row.attempt}`;
  if (row.closed_at === null) faults.push(`${name} is open${row.cleanup_pending_at ? ', its cleanup pending' : ''}`);
  if (row.contradicting > 0) faults.push(`${name} has ${row.contradicting} log chunks that contradict others`);
  if (row.holes > 0) faults.push(`${name} has ${row.holes} holes in its log`);
  const ordinal = Number(row.run_id.split('.')[1]);
  const isWhole = row.out_end === LOUD_BYTES && row.err_end === LOUD_BYTES;
  if (cases[ordinal]?.kind === 'loud' && !isWhole && !mayLoseJobs) {
    faults.push(`${name} printed ${LOUD_BYTES} bytes to each stream, its log ends at ${row.out_end}, ${row.err_end}`);
  }
  return faults;
}

function leftOnHost({ id, dataDir }: Checked): string[] {
  const name = id.replaceAll('_', '-');
  const processes = liveProcesses().filter(
    ({ command, environment }) => command.includes(name) || environment.EVERDICT_ATTEMPT?.includes(name),
  );
  const jobs = path.join(dataDir, 'state', 'jobs');
  const dirs = existsSync(jobs) ? readdirSync(jobs).filter((dir) => dir.includes(name)) : [];
  return [
    ...processes.map(({ pid, command }) => `process ${pid} is left: ${command}`),
    ...dirs.map((dir) => `the directory of job ${dir} is left`),
  ];
}

/** The only workflows that may run are ledgers without a lease, and what a schedule starts. */
async function leftInTemporal({ platform, runtime }: Checked): Promise<string[]> {
  const { workflow } = await platform.temporal();
  const left = await untilEmpty(() => leftovers(workflow, runtime));
  const failed = await failedWorkflowTasks(workflow);
  return [...left, ...failed.map((each) => `a workflow task failed: ${each}`)];
}

async function leftovers(workflow: WorkflowClient, runtime: string): Promise<string[]> {
  const left: string[] = [];
  for await (const { workflowId, type } of workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    if (!['admissionWorkflow', 'sweepWorkflow'].includes(type)) left.push(`workflow ${workflowId} still runs`);
  }
  const { currentDetails } = await workflow
    .getHandle(`admission:default:${runtime}`)
    .query<{ currentDetails: string }>('__temporal_workflow_metadata');
  if (!/^0 of \d+ slots in use, 0 waiting/.test(currentDetails)) left.push(`the ledger says: ${currentDetails}`);
  return left;
}

/** What a list shows lags behind a little; an orphaned lease would be found by its ledger, only later than this. */
async function untilEmpty(read: () => Promise<string[]>): Promise<string[]> {
  let last = ['nothing could be read'];
  await eventually(
    'nothing is left',
    async () => {
      last = await read().catch((error: unknown) => [String(error)]);
      return last.length === 0;
    },
    12_000,
  ).catch(() => undefined);
  return last;
}
