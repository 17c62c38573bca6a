import { TASK_QUEUES } from '../workflows/messages.js';

interface QueueOptions {
  taskQueue: string;
  hasWorkflows: boolean;
  /** Activities at once. On `local` and `cases` most of them wait for a job. */
  maxConcurrentActivityTaskExecutions: number;
  /** Workflows kept in memory; each takes some hundred KB. */
  maxCachedWorkflows?: number;
}

/** What each worker of a process serves. */
export const QUEUES: Record<keyof typeof TASK_QUEUES, QueueOptions> = {
  control: {
    taskQueue: TASK_QUEUES.control,
    hasWorkflows: true,
    maxConcurrentActivityTaskExecutions: 100,
    maxCachedWorkflows: 200,
  },
  cases: {
    taskQueue: TASK_QUEUES.cases,
    hasWorkflows: true,
    maxConcurrentActivityTaskExecutions: 1_000,
    maxCachedWorkflows: 500,
  },
  local: { taskQueue: TASK_QUEUES.local, hasWorkflows: false, maxConcurrentActivityTaskExecutions: 1_000 },
};
