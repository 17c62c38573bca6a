import { activityInfo } from '@temporalio/activity';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { timed, type WorkerMetrics } from './worker-metrics.js';

/** Times every try of every activity, local ones included. */
export class ActivityTimer implements ActivityInboundCallsInterceptor {
  constructor(private readonly metrics: WorkerMetrics) {}

  execute(input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    const { activityType: activity } = activityInfo();
    return timed(
      (result, seconds) => this.metrics.activity.observe({ activity, result }, seconds),
      () => next(input),
    );
  }
}
