import { ScheduleAlreadyRunning, type ScheduleClient, ScheduleOverlapPolicy } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, TASK_QUEUES } from '../workflows/messages.js';

const SCHEDULE_ID = 'everdict-sweep';

interface Pace {
  everySec: number;
  workflowTaskMs: number;
}

/** A sweep that takes longer has lost its worker for good: it must not hold up those that follow. */
const LONGEST_SWEEP = '15 minutes';
/** Sweeps that were due while the server was away are not made up for. */
const CATCH_UP = '10 seconds';

/** The schedule by which Temporal starts sweeps, one at a time. Every worker process keeps it. */
export class SweepSchedule {
  private isUpToDate = false;

  constructor(
    private readonly client: ScheduleClient,
    private readonly pace: Pace,
  ) {}

  /** Creates it where there is none, as after somebody deleted it. The first call also brings it up to this version. */
  async keep(): Promise<void> {
    const { pace } = this;
    const settings = {
      spec: { intervals: [{ every: pace.everySec * 1_000 }] },
      action: sweepAction(pace),
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
    };
    try {
      await this.client.create({ ...settings, scheduleId: SCHEDULE_ID, state: { triggerImmediately: true } });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      if (this.isUpToDate) return;
      // One that an operator paused stays so.
      await this.client.getHandle(SCHEDULE_ID).update(({ state: { paused, note } }) => ({
        ...settings,
        state: { paused, note },
      }));
    }
    this.isUpToDate = true;
  }
}

const sweepAction = ({ workflowTaskMs }: Pace) => ({
  type: 'startWorkflow' as const,
  workflowType: 'sweepWorkflow',
  workflowId: 'sweep',
  taskQueue: TASK_QUEUES.control,
  workflowTaskTimeout: workflowTaskMs,
  workflowExecutionTimeout: LONGEST_SWEEP,
  staticSummary: 'settles and cleans what nobody owns',
  typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.phase, value: 'running' }],
});
