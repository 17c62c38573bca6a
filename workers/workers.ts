import { type NativeConnection, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import { ActivityTimer } from './activity.timer.js';
import type { Platform } from './compose.js';
import { FailureInterceptor } from './failure.interceptor.js';
import { QUEUES } from './task-queues.js';

interface Site {
  connection: NativeConnection;
  namespace: string;
  workflowBundle: WorkflowBundleOption;
  activities: Platform['activities'];
  metrics: Platform['metrics'];
  queues: (keyof typeof QUEUES)[];
}

/** One worker per task queue. Cancels reach activities with their heartbeats, so these are not held back for long. */
export function createWorkers({ queues, activities, metrics, workflowBundle, ...site }: Site): Promise<Worker[]> {
  return Promise.all(
    queues.map((name) => {
      const { hasWorkflows, ...options } = QUEUES[name];
      const settings: WorkerOptions = {
        ...site,
        ...options,
        ...(hasWorkflows && { workflowBundle }),
        // A ledger is built anew from the database by whoever signals next: better than one that no task can go on with.
        workflowFailureErrorTypes: { '*': [], admissionWorkflow: ['NondeterminismError'] },
        activities: activities[name],
        maxHeartbeatThrottleInterval: '2 seconds',
        defaultHeartbeatThrottleInterval: '2 seconds',
        shutdownGraceTime: '3 seconds',
        shutdownForceTime: '12 seconds',
        interceptors: {
          activity: [() => ({ inbound: new ActivityTimer(metrics) }), () => ({ inbound: new FailureInterceptor() })],
        },
      };
      return Worker.create(settings);
    }),
  );
}
