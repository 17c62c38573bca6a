import { createServer } from 'node:net';
import { type Logger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { Counter, type Registry } from 'prom-client';

const HOST = '127.0.0.1';
const READ_MS = 2_000;
const LOOK_EVERY_MS = 30_000;
const TRIES = 5;

/** Failed workflow tasks as the SDK counts them: tries that the server refused because of a newer event are not among them. */
const FAILED_TASKS = /^temporal_workflow_task_execution_failed(?:_total)?\{([^}]*)\} (\d+)/gm;

/** Starts the native part of the SDK with an exporter of its metrics, on a port of this machine that nobody else has. */
export async function installRuntime(options: Pick<RuntimeOptions, 'logger' | 'shutdownSignals'>): Promise<SdkMetrics> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const prometheus = {
      bindAddress: `${HOST}:${port}`,
      countersTotalSuffix: true,
      unitSuffix: true,
      useSecondsForDurations: true,
    };
    // What the native core says comes through our log, too.
    const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;
    try {
      Runtime.install({ ...options, telemetryOptions: { logging, metrics: { prometheus, attachServiceName: false } } });
      return new SdkMetrics(`http://${HOST}:${port}/metrics`);
    } catch (error) {
      // Somebody took it in between.
      if (tries === TRIES || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** What the SDK itself measures. */
export class SdkMetrics {
  constructor(private readonly url: string) {}

  async read(): Promise<string> {
    const response = await fetch(this.url, { signal: AbortSignal.timeout(READ_MS) });
    if (!response.ok) throw new Error(`the SDK's metrics answer with ${response.status}`);
    return response.text();
  }
}

/** A count of failed workflow tasks that begins with 0, and a line in the log whenever it grows. */
export class FailedTasks {
  private readonly counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly sdk: Pick<SdkMetrics, 'read'>,
    private readonly log: Logger,
    registry: Registry,
  ) {
    const total = (): number => [...this.counts.values()].reduce((sum, count) => sum + count, 0);
    new Counter({
      name: 'everdict_workflow_tasks_failed_total',
      help: 'Workflow tasks that failed, without those that a newer event made void (UNHANDLED_COMMAND).',
      registers: [registry],
      collect() {
        this.reset();
        this.inc(total());
      },
    });
  }

  /** The server retries a failed task for ever, and after the first time says nothing of it. */
  watch(): void {
    this.timer = setInterval(() => {
      this.sdk.read().then(
        (text) => this.look(text),
        () => undefined,
      );
    }, LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  look(text: string): void {
    for (const [, labels = '', count = '0'] of text.matchAll(FAILED_TASKS)) {
      const more = Number(count) - (this.counts.get(labels) ?? 0);
      this.counts.set(labels, Number(count));
      if (more > 0) this.log.warn('workflow tasks failed', { count: more, labels });
    }
  }
}
