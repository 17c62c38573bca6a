import type { WorkflowClient } from '@temporalio/client';
import type { E2ePlatform } from '../e2e/platform.js';
import { eventually } from '../eventually.js';
import { failedWorkflowTasks } from '../workflow-tasks.js';
import { liveProcesses } from './process-table.js';

/** A ledger looks for holders that are gone every 20 s. */
const AT_REST_WITHIN_MS = 60_000;
const MOST_EVENTS = 1_500;

interface Audit {
  drift: number;
  pools: { pool: string; leases: number }[];
  unread: unknown[];
}

/**
 * What is left of work that is over: nothing. In the tables, in the process table, in Temporal, in each ledger, and by
 * the platform's own audit.
 */
export async function leftAtRest(platform: E2ePlatform): Promise<string[]> {
  let last = ['nothing could be read'];
  await eventually(
    'all is at rest',
    async () => {
      last = await leftNow(platform).catch((error: unknown) => [String(error)]);
      return last.length === 0;
    },
    AT_REST_WITHIN_MS,
  ).catch(() => undefined);
  const { workflow } = await platform.temporal();
  const failed = await failedWorkflowTasks(workflow);
  return [...last, ...failed.map((each) => `a workflow task failed: ${each}`), ...(await longLedgers(workflow))];
}

async function leftNow(platform: E2ePlatform): Promise<string[]> {
  const { workflow } = await platform.temporal();
  return [
    ...(await leftInTables(platform)),
    ...leftOnHost(platform),
    ...(await leftInTemporal(workflow)),
    ...(await drift(platform)),
  ];
}

async function leftInTables(platform: E2ePlatform): Promise<string[]> {
  const runs = await platform.sql<{ id: string; how: string }>(
    `SELECT id, CASE WHEN outcome IS NULL THEN 'is not settled' ELSE 'still has an open attempt' END AS how
     FROM runs WHERE outcome IS NULL OR open_attempt IS NOT NULL ORDER BY id LIMIT 20`,
  );
  const attempts = await platform.sql<{ allocation: string }>(
    'SELECT allocation FROM attempts WHERE closed_at IS NULL ORDER BY allocation LIMIT 20',
  );
  const scorecards = await platform.sql<{ id: string }>('SELECT id FROM scorecards WHERE finished_at IS NULL');
  return [
    ...runs.map(({ id, how }) => `run ${id} ${how}`),
    ...attempts.map(({ allocation }) => `${allocation} is live`),
    ...scorecards.map(({ id }) => `scorecard ${id} is not finished`),
  ];
}

function leftOnHost({ dir }: E2ePlatform): string[] {
  const jobs = liveProcesses().filter(
    ({ command, environment }) => environment.LEDGER?.startsWith(dir) || command.includes(`${dir}/data/state/jobs`),
  );
  return jobs.map(({ pid, command }) => `process ${pid} is left: ${command}`);
}

/** Only ledgers may run, each of them empty, and what a schedule starts. */
async function leftInTemporal(workflow: WorkflowClient): Promise<string[]> {
  const left: string[] = [];
  for await (const { workflowId, type } of workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    if (type === 'admissionWorkflow') {
      const handle = workflow.getHandle(workflowId);
      const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      const leases = await handle.query<unknown[]>('heldLeases');
      if (leases.length > 0) left.push(`${workflowId} holds ${JSON.stringify(leases.slice(0, 5))}`);
      if (!/^0 of \d+ slots in use, 0 waiting/.test(currentDetails)) left.push(`${workflowId} says ${currentDetails}`);
    } else if (type !== 'sweepWorkflow') left.push(`${workflowId} still runs`);
  }
  return left;
}

async function drift(platform: E2ePlatform): Promise<string[]> {
  const audit = await platform.ok<Audit>('GET', '/admission/audit');
  const isClean = audit.drift === 0 && audit.unread.length === 0 && audit.pools.every(({ leases }) => leases === 0);
  return isClean ? [] : [`the audit says ${JSON.stringify(audit)}`];
}

/** Of all ledgers there ever were. */
async function longLedgers(workflow: WorkflowClient): Promise<string[]> {
  const long: string[] = [];
  for await (const { workflowId, runId, historyLength } of workflow.list({
    query: 'WorkflowType = "admissionWorkflow"',
  })) {
    if (historyLength >= MOST_EVENTS) long.push(`a history of ${workflowId} (${runId}) has ${historyLength} events`);
  }
  return long;
}
