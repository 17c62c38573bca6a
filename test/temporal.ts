import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { readLocalHost } from '../backends/local/local.host.js';
import { type Env, readEnv } from '../config/env.js';
import { startTemporal } from '../dev/temporal-server.js';
import { makeBundle } from '../workers/bundle.js';
import { compose, type Platform } from '../workers/compose.js';
import { connectClient, registerSearchAttributes } from '../workers/temporal-boot.js';
import { createWorkers } from '../workers/workers.js';
import { TASK_QUEUES } from '../workflows/messages.js';
import { createTestDatabase, type TestDatabase } from './postgres.js';
import { failedWorkflowTasks } from './workflow-tasks.js';

export { eventually } from './eventually.js';

const START_WITHIN_MS = 120_000;
const QUIET = new DefaultLogger('ERROR');

let hasRuntime = false;

/** Before anything native is used; once per test file is enough. */
export function installRuntime(): void {
  if (hasRuntime) return;
  hasRuntime = true;
  const logging = { filter: { core: 'ERROR', other: 'ERROR' } as const };
  Runtime.install({ logger: QUIET, shutdownSignals: [], telemetryOptions: { logging } });
}

/** The one Temporal server of a test run, and the workflows bundled once. */
interface Shared {
  address: string;
  bundlePath: string;
}

async function startShared(dir: string): Promise<Shared> {
  const bundlePath = path.join(dir, 'workflow-bundle.js');
  const [server] = await Promise.all([
    startTemporal({ headless: true, dbFile: path.join(dir, 'temporal.db') }),
    makeBundle().then((code) => fs.writeFile(bundlePath, code)),
  ]);
  await fs.writeFile(path.join(dir, 'temporal.pid'), String(server.pid));
  return { address: server.address, bundlePath };
}

/** The first file that needs it starts it, the others wait for it. */
export async function sharedTemporal(): Promise<Shared> {
  const dir = process.env.EVERDICT_TEST_DIR;
  if (!dir) throw new Error('EVERDICT_TEST_DIR is not set: this suite has no global setup');
  const file = path.join(dir, 'temporal.json');
  const isFirst = await fs.mkdir(path.join(dir, 'starting-temporal')).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const shared = await startShared(dir);
    await fs.writeFile(`${file}.new`, JSON.stringify(shared));
    await fs.rename(`${file}.new`, file);
    return shared;
  }
  for (const deadline = performance.now() + START_WITHIN_MS; performance.now() < deadline; await sleep(50)) {
    const text = await fs.readFile(file, 'utf8').catch(() => undefined);
    if (text) return JSON.parse(text) as Shared;
  }
  throw new Error(`the shared Temporal server did not start in ${dir}`);
}

/** A namespace of its own, so that files which run at once do not serve each other's queues. */
async function createNamespace(connection: Connection): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('1 day') });
  for (;;) {
    try {
      await registerSearchAttributes(connection, namespace);
      return namespace;
    } catch (error) {
      if (!/not ?found/i.test(String(error))) throw error;
      await sleep(50);
    }
  }
}

/** A worker process in miniature. */
export interface TestWorker {
  outbox: Platform['outbox'];
  sweeps: Platform['sweeps'];
  stop(): Promise<void>;
}

/** The whole control plane for one test file: a database, a namespace, and workers on demand. */
export class TestPlatform {
  private readonly running = new Set<TestWorker>();

  private constructor(
    readonly db: TestDatabase,
    readonly client: Client,
    readonly env: Env,
    private readonly shared: Shared,
    private readonly native: NativeConnection,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<TestPlatform> {
    installRuntime();
    const [shared, db] = await Promise.all([sharedTemporal(), createTestDatabase({ poolSize: 20 })]);
    const connection = await connectClient({ address: shared.address });
    const namespace = await createNamespace(connection);
    const stateDir = await fs.mkdtemp(path.join(process.env.EVERDICT_TEST_DIR ?? '', 'state-'));
    const env = readEnv({
      DATABASE_URL: db.url,
      TEMPORAL_ADDRESS: shared.address,
      TEMPORAL_NAMESPACE: namespace,
      EVERDICT_STATE_DIR: stateDir,
      EVERDICT_ALLOW_LOCAL_RUNTIMES: '1',
      EVERDICT_LINGER_SEC: '20',
      EVERDICT_GRACE_SEC: '1',
      EVERDICT_DEPLOYMENT: `t${randomBytes(4).toString('hex')}`,
      PATH: process.env.PATH,
      ...settings,
    });
    const native = await NativeConnection.connect({ address: shared.address });
    return new TestPlatform(db, new Client({ connection, namespace }), env, shared, native);
  }

  /** `replace` changes activities of the real platform. */
  async startWorker(
    replace: (activities: Platform['activities']) => Partial<Platform['activities']> = () => ({}),
  ): Promise<TestWorker> {
    const localHost = await readLocalHost(this.env.EVERDICT_STATE_DIR);
    const { dataSource } = this.db;
    const { activities, metrics, outbox, sweeps } = compose({
      env: this.env,
      dataSource,
      client: this.client,
      log: QUIET,
      localHost,
    });
    const workers = await createWorkers({
      connection: this.native,
      namespace: this.env.TEMPORAL_NAMESPACE,
      workflowBundle: { codePath: this.shared.bundlePath },
      activities: { ...activities, ...replace(activities) },
      metrics,
      queues: ['control', 'cases', 'local'],
    });
    const ended = Promise.all(workers.map((worker: Worker) => worker.run()));
    const worker: TestWorker = {
      outbox,
      sweeps,
      stop: async () => {
        this.running.delete(worker);
        for (const each of workers) if (each.getState() === 'RUNNING') each.shutdown();
        await ended;
      },
    };
    this.running.add(worker);
    return worker;
  }

  /** Serves the control queue with the workflows of another file, until it is stopped. */
  async startForeignWorkflows(workflowsPath: string): Promise<{ stop(): Promise<void> }> {
    const worker = await Worker.create({
      connection: this.native,
      namespace: this.env.TEMPORAL_NAMESPACE,
      taskQueue: TASK_QUEUES.control,
      workflowsPath,
    });
    const ended = worker.run();
    return {
      stop: async () => {
        worker.shutdown();
        await ended;
      },
    };
  }

  /** Reasons of failed workflow tasks, but those that a signal or a termination in the midst of one explains. */
  failedWorkflowTasks(): Promise<string[]> {
    return failedWorkflowTasks(this.client.workflow);
  }

  /** Number of history events of a workflow's latest run. */
  async eventsOf(workflowId: string): Promise<number> {
    const { historyLength } = await this.client.workflow.getHandle(workflowId).describe();
    return historyLength;
  }

  async close(): Promise<void> {
    for (const worker of [...this.running]) await worker.stop();
    await this.client.connection.close();
    await this.native.close();
    await this.db.drop();
  }
}
