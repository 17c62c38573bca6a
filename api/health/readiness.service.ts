import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { TASK_QUEUES } from '../../workflows/messages.js';
import { WorkflowClient } from '../common/workflow.client.js';

const CHECK_MS = 2_000;
const SHARED_MS = 1_000;

export const Readiness = z.strictObject({
  /** `ok`, or what is wrong. */
  checks: z.array(
    z.strictObject({ name: z.enum(['postgres', 'migrations', 'temporal', 'workers']), status: z.string() }),
  ),
});
export type Readiness = z.infer<typeof Readiness>;

/** Queues without which no scorecard gets on, whatever its runtime. */
const SERVED = [TASK_QUEUES.control, TASK_QUEUES.cases];

type Check = Readiness['checks'][number];

@Injectable()
export class ReadinessService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly workflows: WorkflowClient,
  ) {}

  private reading?: { at: number; result: Promise<Readiness> };

  /** Shared for a second: whoever asks, however often, costs no more. */
  read(): Promise<Readiness> {
    const now = performance.now();
    if (!this.reading || now - this.reading.at > SHARED_MS) this.reading = { at: now, result: this.look() };
    return this.reading.result;
  }

  private async look(): Promise<Readiness> {
    const checks = await Promise.all([
      check('postgres', async () => {
        await this.dataSource.query('SELECT 1');
      }),
      check('migrations', async () => {
        if (await this.dataSource.showMigrations()) throw new Error('some are pending: restart the API to run them');
      }),
      check('temporal', () => this.workflows.check(CHECK_MS)),
      check('workers', () => this.requireWorkers()),
    ]);
    return { checks };
  }

  private async requireWorkers(): Promise<void> {
    const served = await Promise.all(SERVED.map((queue) => this.workflows.isServed(queue, CHECK_MS)));
    const idle = SERVED.filter((_queue, index) => !served[index]);
    if (idle.length > 0) throw new Error(`none serves ${idle.join(', ')}: what is submitted waits for one`);
  }
}

async function check(name: Check['name'], probe: () => Promise<void>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`does not answer within ${CHECK_MS} ms`)), CHECK_MS);
  });
  try {
    await Promise.race([probe(), late]);
    return { name, status: 'ok' };
  } catch (error) {
    return { name, status: error instanceof Error ? reason(error) : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** An error without a message of its own, as of a refused connection, is told by its code. */
function reason(error: Error): string {
  const code = 'code' in error ? String(error.code) : error.name;
  return (error.message.split('\n')[0] || code).slice(0, 200);
}
