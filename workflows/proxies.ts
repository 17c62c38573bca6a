import {
  ActivityCancellationType,
  type ActivityOptions,
  type LocalActivityOptions,
  type RetryPolicy,
} from '@temporalio/workflow';
import { TASK_QUEUES } from './messages.js';

/** Errors of the code itself: the same call fails the same way again. Codes of the platform say so themselves. */
const DETERMINISTIC = ['TypeError', 'ZodError', 'SyntaxError', 'RangeError'];

const PATIENT: RetryPolicy = {
  initialInterval: '500 milliseconds',
  backoffCoefficient: 2,
  maximumInterval: '10 seconds',
  nonRetryableErrorTypes: DETERMINISTIC,
};

/** Short statements and signals: repeated until they hold. */
export const CONTROL: ActivityOptions = {
  taskQueue: TASK_QUEUES.control,
  startToCloseTimeout: '10 seconds',
  retry: PATIENT,
};

/** Looks at many executions, one by one. */
export const SURVEY: ActivityOptions = { ...CONTROL, startToCloseTimeout: '60 seconds' };

/** Reads every answer of a scorecard; another try goes on where the last one was. */
export const REGRADE: ActivityOptions = {
  ...CONTROL,
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
};

/** Asks session pools for a while; on the queue whose activities mostly wait. */
export const SESSIONS: ActivityOptions = {
  taskQueue: TASK_QUEUES.cases,
  startToCloseTimeout: '60 seconds',
  heartbeatTimeout: '10 seconds',
  retry: PATIENT,
};

/** Follows a job to its end, however long that takes. */
export const DISPATCH: ActivityOptions = {
  startToCloseTimeout: '30 hours',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { ...PATIENT, maximumInterval: '30 seconds' },
};

/** Removes what a job left and reads back that it is gone. */
export const CLEANUP: ActivityOptions = {
  startToCloseTimeout: '60 seconds',
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: PATIENT,
};

/** On a cluster that is out of reach, before another attempt: each try says itself when it gives up. */
export const CLUSTER_CLEANUP: ActivityOptions = { ...CLEANUP, scheduleToCloseTimeout: '40 minutes' };

/** The same for a sweep, which comes again: one that nobody serves, or that a cluster does not confirm, holds up nothing. */
export const BOUNDED_CLEANUP: ActivityOptions = {
  ...CLEANUP,
  scheduleToStartTimeout: '30 seconds',
  scheduleToCloseTimeout: '90 seconds',
  retry: { ...PATIENT, maximumAttempts: 3 },
};

/** One try inside the workflow task, short enough to need no heartbeat of that task. */
export const ONE_LOCAL_TRY: LocalActivityOptions = {
  startToCloseTimeout: '3 seconds',
  retry: { maximumAttempts: 1 },
};
