import { once } from 'node:events';
import type { WorkflowClient } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { AdmissionActivities, AllocationActivities, ScorecardActivities } from '../activities/index.js';
import { findTestServer } from '../dev/temporal-binary.js';
import { FailureInterceptor } from '../workers/failure.interceptor.js';
import { SEARCH_ATTRIBUTES, TASK_QUEUES } from '../workflows/messages.js';
import { installRuntime, sharedTemporal } from './temporal.js';

export type Activities = AdmissionActivities & AllocationActivities & ScorecardActivities;

/** IndexedValueType of the API. */
const KEYWORD = 2;

/**
 * Workflows on a server that skips the time nobody needs, with activities of the test's own. Each test opens one: the
 * server never skips time again once a workflow was terminated that had a task to do.
 */
export class TimeMachine {
  private readonly closing = new AbortController();
  private served: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly environment: TestWorkflowEnvironment,
    private readonly bundlePath: string,
  ) {}

  static async open(): Promise<TimeMachine> {
    installRuntime();
    const [path, { bundlePath }] = await Promise.all([findTestServer(), sharedTemporal()]);
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path } },
    });
    const names = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => [name, KEYWORD]);
    await environment.connection.operatorService.addSearchAttributes({ searchAttributes: Object.fromEntries(names) });
    return new TimeMachine(environment, bundlePath);
  }

  get client(): WorkflowClient {
    return this.environment.client.workflow;
  }

  /** Epoch ms, as workflows see it. */
  now(): Promise<number> {
    return this.environment.currentTimeMs();
  }

  /** Serves every queue while `work` runs. */
  serving<T>(activities: Partial<Activities>, work: () => Promise<T>): Promise<T> {
    const served = this.serve(activities, work);
    this.served = served.catch(() => undefined);
    return served;
  }

  private async serve<T>(activities: Partial<Activities>, work: () => Promise<T>): Promise<T> {
    const workers = await Promise.all(
      Object.values(TASK_QUEUES).map((taskQueue) =>
        Worker.create({
          connection: this.environment.nativeConnection,
          taskQueue,
          workflowBundle: { codePath: this.bundlePath },
          activities,
          shutdownForceTime: '5 seconds',
          interceptors: { activity: [() => ({ inbound: new FailureInterceptor() })] },
        }),
      ),
    );
    const running = Promise.all(workers.map((worker) => worker.run()));
    const { signal } = this.closing;
    const closed = once(signal, 'abort').then(() => Promise.reject(new Error('the time machine was closed')));
    try {
      return await Promise.race([this.environment.connection.withAbortSignal(signal, work), closed]);
    } finally {
      for (const worker of workers) worker.shutdown();
      await running;
    }
  }

  /** Also ends what a test that took too long left: its workers would poll a server that is gone, and end no process. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.served;
    await this.environment.teardown();
  }
}
