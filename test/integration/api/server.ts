import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { createApp } from '../../../api/app.js';
import { WorkflowClient } from '../../../api/common/workflow.client.js';
import { readEnv } from '../../../config/env.js';
import { JsonLog } from '../../../config/log.js';
import { explainWaiting, pageQueue, type Seen, viewPool } from '../../../policy/admission/view.js';
import { type HeldLease, heldLeases, poolView, queuePage, waitingOf } from '../../../workflows/messages.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';

/** One call that would have gone to Temporal. */
export interface WorkflowCall {
  verb: 'start' | 'cancel' | 'signal';
  workflowId: string;
  argument?: unknown;
}

/** Whatever JSON holds: a test that expects another shape fails on it. */
type Json = ReturnType<typeof JSON.parse>;

export interface Reply {
  status: number;
  headers: Headers;
  /** Parsed JSON, or the text. */
  body: Json;
}

export interface Api {
  app: NestFastifyApplication;
  url: string;
  database: TestDatabase;
  calls: WorkflowCall[];
  logLines: string[];
  /** What the ledger of every pool says it has granted. */
  leases: HeldLease[];
  /** Ledgers that run, by the id of their workflow; `silent`: one that does not answer. */
  ledgers: Map<string, Seen | 'silent'>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  close(): Promise<void>;
}

/** The API on a port and a database of its own. Without `temporal`, calls to Temporal are noted and succeed. */
export async function startApi(options: { temporal?: string; env?: Record<string, string> } = {}): Promise<Api> {
  const database = await createTestDatabase();
  const env = readEnv({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: options.temporal,
    EVERDICT_ALLOW_LOCAL_RUNTIMES: '1',
    EVERDICT_EGRESS_ALLOW: '127.0.0.0/8',
    ...options.env,
  });
  const logLines: string[] = [];
  const log = new JsonLog((line) => logLines.push(line));
  const calls: WorkflowCall[] = [];
  const leases: HeldLease[] = [];
  const ledgers = new Map<string, Seen | 'silent'>();
  const workflows = options.temporal
    ? WorkflowClient.lazy(env, log)
    : new WorkflowClient(notingClient({ calls, leases, ledgers }), log, env);
  const app = await createApp({ env, dataSource: database.dataSource, workflows, log });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = await app.getUrl();
  return {
    app,
    url,
    database,
    calls,
    logLines,
    leases,
    ledgers,
    send: (method, path, body, headers) => send(`${url}${path}`, method, body, headers),
    close: async () => {
      await app.close();
      await workflows.close();
      await database.drop();
    },
  };
}

const ANSWERS: Record<string, (seen: Seen, ...args: never[]) => unknown> = {
  [poolView.name]: viewPool,
  [queuePage.name]: pageQueue,
  [waitingOf.name]: explainWaiting,
};

/** A client of Temporal that notes what it is asked. */
function notingClient({ calls, leases, ledgers }: Pick<Api, 'calls' | 'leases' | 'ledgers'>): Client {
  const client = {
    options: { namespace: 'default' },
    connection: {
      withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
      close: async () => undefined,
      workflowService: { describeNamespace: async () => ({}), describeTaskQueue: async () => ({ pollers: [] }) },
    },
    workflow: {
      start: async (_type: string, { workflowId, args }: { workflowId: string; args: unknown[] }) => {
        calls.push({ verb: 'start', workflowId, argument: args[0] });
      },
      getHandle: (workflowId: string) => ({
        query: async ({ name }: { name: string }, ...args: never[]) => {
          if (name === heldLeases.name) return leases;
          const seen = ledgers.get(workflowId);
          if (!seen) throw new WorkflowNotFoundError('not found', workflowId, undefined);
          if (seen === 'silent') throw new Error('deadline exceeded');
          return ANSWERS[name]?.(seen, ...args);
        },
        cancel: async () => void calls.push({ verb: 'cancel', workflowId }),
        signal: async (_signal: unknown, argument: unknown) =>
          void calls.push({ verb: 'signal', workflowId, argument }),
      }),
    },
  };
  return client as unknown as Client;
}

/** Objects are sent as JSON, strings as they are. */
async function send(url: string, method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: isText ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Registers what a scorecard needs: dataset `tasks`, harness `echo`, runtime `here`. */
export async function registerWorld(api: Api, { size = 3 }: { size?: number } = {}): Promise<void> {
  const cases = Array.from({ length: size }, (_, index) => ({
    id: `case-${index}`,
    task: `task ${index}`,
    tags: index % 2 === 0 ? ['even'] : [],
  }));
  const made = await Promise.all([
    api.send('POST', '/datasets', { id: 'tasks', version: '1.0.0', cases }),
    api.send('POST', '/harnesses', {
      kind: 'command',
      id: 'echo',
      version: '1.0.0',
      command: 'cat "$EVERDICT_TASK_FILE"',
    }),
    api.send('POST', '/runtimes', {
      kind: 'local',
      id: 'here',
      version: '1.0.0',
      maxConcurrent: 4,
      memoryBudgetMb: 1_000,
    }),
  ]);
  const refused = made.find(({ status }) => status !== 201);
  if (refused) throw new Error(`not registered: ${JSON.stringify(refused.body)}`);
}

/** How many rows each table has that a request could have written to. */
export async function rowCounts({ database }: Api): Promise<Record<string, number>> {
  const tables = [
    'datasets',
    'dataset_cases',
    'harnesses',
    'runtimes',
    'pools',
    'scorecards',
    'runs',
    'idempotency_keys',
  ];
  const counts = await Promise.all(
    tables.map(async (table) => {
      const [row] = await database.dataSource.query(`SELECT count(*)::int AS count FROM ${table}`);
      return [table, row.count] as const;
    }),
  );
  return Object.fromEntries(counts);
}
