import type { WorkflowClient } from '@temporalio/client';

/** Of the API's WorkflowTaskFailedCause. */
const UNHANDLED_COMMAND = 1;
const FORCE_CLOSE_COMMAND = 17;

/** Reasons of failed workflow tasks, but those that a signal or a termination in the midst of one explains. */
export async function failedWorkflowTasks(client: WorkflowClient): Promise<string[]> {
  const failures: string[] = [];
  for await (const { workflowId, runId } of client.list()) {
    const { events } = await client.getHandle(workflowId, runId).fetchHistory();
    const isTerminated = events?.at(-1)?.workflowExecutionTerminatedEventAttributes != null;
    for (const { workflowTaskFailedEventAttributes: failed } of events ?? []) {
      if (!failed || failed.cause === UNHANDLED_COMMAND) continue;
      if (failed.cause === FORCE_CLOSE_COMMAND && isTerminated) continue;
      failures.push(`${workflowId}: cause ${failed.cause} ${failed.failure?.message ?? ''}`);
    }
  }
  return failures;
}

/** Events of each run of a workflow that continued as new, from this run on. */
export async function historyLengths(
  client: WorkflowClient,
  workflowId: string,
  firstRunId: string,
): Promise<number[]> {
  const lengths: number[] = [];
  for (let runId: string | null | undefined = firstRunId; runId; ) {
    const { events } = await client.getHandle(workflowId, runId).fetchHistory();
    lengths.push(events?.length ?? 0);
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return lengths;
}
