import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowClient } from '@temporalio/client';
import { childEnv } from '../config/cli-env.js';
import { startNodeProcess } from '../dev/node-process.js';
import type { bareWindow } from './bare.workflows.js';
import type { BenchPlatform } from './platform.js';

export const BARE_QUEUE = 'bench-bare';
/** Cases that a window of the platform has in flight. */
const WIDTH = 100;

/** The control: as many Temporal workflows with one regular activity that does nothing, on the platform's own server. */
export class BareCases {
  private windows = 0;

  private constructor(
    readonly pid: number,
    readonly stop: () => Promise<void>,
    private readonly client: WorkflowClient,
  ) {}

  static async start({ dir, stack, temporal }: BenchPlatform): Promise<BareCases> {
    const { databaseUrl = '', temporalAddress = '' } = stack.addresses;
    const spec = {
      name: 'bare worker',
      script: fileURLToPath(new URL('./bare-worker.js', import.meta.url)),
      env: childEnv({ DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress }),
      logFile: path.join(dir, 'bare-worker.log'),
      readyWithinMs: 60_000,
      isReady: (log: string) => log.includes('bare worker ready'),
    };
    const { pid, stop } = await startNodeProcess(spec, new AbortController().signal);
    return new BareCases(pid, stop, temporal);
  }

  /** As children of one window, to the end of the last. Returns the window's id; theirs are `<window>.1`, `.2`, … */
  async run(count: number): Promise<string> {
    this.windows += 1;
    const workflowId = `bare-${this.windows}`;
    await this.client.execute<typeof bareWindow>('bareWindow', {
      workflowId,
      taskQueue: BARE_QUEUE,
      args: [{ count, width: WIDTH }],
    });
    return workflowId;
  }
}
