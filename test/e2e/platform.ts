import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import pg from 'pg';
import type { AttemptView, RunView } from '../../contracts/run.js';
import type { ScorecardView } from '../../contracts/scorecard.js';
import { type StackOptions, startStack } from '../../dev/launcher.js';
import { identify, isAlive, signalProcess } from '../../dev/process-id.js';
import type { Addresses } from '../../dev/stack-parts.js';
import { eventually } from '../eventually.js';
import { failedWorkflowTasks } from '../workflow-tasks.js';
import { processesOf } from './cli/processes.js';

export const MINUTE = 60_000;

export type PartName = 'postgres' | 'temporal' | 'api' | 'worker';

export interface Reply<T> {
  status: number;
  body: T;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** What a test says of a spec or a request. */
type Parts = Record<string, unknown>;

/** References to ask for a scorecard with. */
export type Registered = Record<'runtime' | 'harness' | 'dataset', string>;

/** A platform that was started, by whatever means. */
export interface Site {
  readonly apiUrl: string;
  readonly addresses: Addresses;
  readonly pids: Record<string, number>;
  readonly failed: Promise<Error>;
  stop(): Promise<void>;
}

/** The whole platform as a user starts it, seen from outside: HTTP, the process table, and its two servers. */
export class E2ePlatform {
  private client: { address: string | undefined; opened: Promise<Client> } | undefined;
  private registered = 0;
  private failure: Error | undefined;

  private constructor(
    readonly stack: Site,
    /** For what jobs note. */
    readonly dir: string,
  ) {
    void stack.failed.then((error) => {
      this.failure = error;
    });
  }

  static async start(launch: (options: StackOptions) => Promise<Site> = startStack): Promise<E2ePlatform> {
    const dir = mkdtempSync(path.join(tmpdir(), 'everdict-e2e-'));
    const stack = await launch({
      dataDir: path.join(dir, 'data'),
      // How long a killed worker holds what it had taken.
      env: { EVERDICT_WORKFLOW_TASK_SEC: '2', EVERDICT_GRACE_SEC: '1' },
    });
    return new E2ePlatform(stack, dir);
  }

  /** Fails if anything at all is left. */
  async stop(): Promise<void> {
    await this.disconnect();
    await this.stack.stop();
    expect(processesOf(this.dir)).toEqual([]);
    rmSync(this.dir, { recursive: true, force: true });
  }

  async call<T>(method: Method, route: string, body?: unknown, headers: Parts = {}): Promise<Reply<T>> {
    const response = await fetch(`${this.stack.apiUrl}${route}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as T };
  }

  /** As `call`, and anything but success fails. */
  async ok<T>(method: Method, route: string, body?: unknown, headers: Parts = {}): Promise<T> {
    const reply = await this.call<T>(method, route, body, headers);
    if (reply.status >= 300) throw new Error(`${method} ${route}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** Undefined while the API or its database is away. */
  private async readable<T>(route: string): Promise<T | undefined> {
    const reply = await this.call<T>('GET', route).catch(() => undefined);
    if (reply === undefined || reply.status === 503) return undefined;
    if (reply.status !== 200) throw new Error(`GET ${route}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** A runtime, a harness and a dataset that nobody else uses. Returns how to ask for a scorecard of them. */
  async register(parts: { runtime?: Parts; harness: Parts; cases: Parts[] }): Promise<Registered> {
    this.registered += 1;
    const head = { id: `test-${this.registered}`, version: '1' };
    await this.ok('POST', '/runtimes', { ...head, kind: 'local', maxConcurrent: 4, ...parts.runtime });
    await this.ok('POST', '/harnesses', { ...head, kind: 'command', ...parts.harness });
    await this.ok('POST', '/datasets', { ...head, cases: parts.cases });
    return { runtime: head.id, harness: head.id, dataset: head.id };
  }

  async submit(request: Parts): Promise<string> {
    const reply = await this.call<{ id: string }>('POST', '/scorecards', request);
    if (reply.status !== 202) throw new Error(`not accepted: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.id;
  }

  scorecard(id: string): Promise<ScorecardView> {
    return this.ok('GET', `/scorecards/${id}`);
  }

  /** Every run of a scorecard, in the order of its dataset. */
  async runs(id: string, filter = ''): Promise<RunView[]> {
    const runs: RunView[] = [];
    let cursor = '';
    for (;;) {
      const page: { items: RunView[]; next: string | null } = await this.ok(
        'GET',
        `/scorecards/${id}/cases?limit=50${filter}${cursor}`,
      );
      runs.push(...page.items);
      if (page.next === null) return runs;
      cursor = `&cursor=${encodeURIComponent(page.next)}`;
    }
  }

  run(id: string): Promise<RunView> {
    return this.ok('GET', `/runs/${id}`);
  }

  settled(id: string): Promise<RunView> {
    return eventually(`${id} settles`, async () => {
      const run = await this.readable<RunView>(`/runs/${id}`);
      return run?.state === 'settled' ? run : undefined;
    });
  }

  async attempts(runId: string): Promise<AttemptView[]> {
    return (await this.ok<{ items: AttemptView[] }>('GET', `/runs/${runId}/attempts`)).items;
  }

  /** Looks until it holds; what cannot be read meanwhile is looked at again. */
  until(id: string, what: string, holds: (view: ScorecardView) => boolean, withinMs = MINUTE): Promise<ScorecardView> {
    return eventually(
      `${id} ${what}`,
      async () => {
        const view = await this.readable<ScorecardView>(`/scorecards/${id}`);
        return view && holds(view) ? view : undefined;
      },
      withinMs,
    );
  }

  completed(id: string): Promise<ScorecardView> {
    return this.until(id, 'completes', ({ status }) => status === 'completed');
  }

  pid(name: PartName): number {
    const pid = this.stack.pids[name];
    if (pid === undefined) throw new Error(`${name} is not up`);
    return pid;
  }

  /** `kill -9`, all at once. Returns once the launcher has all of them up again. */
  async kill(...names: PartName[]): Promise<void> {
    const victims = names.map((name) => ({ name, target: identify(this.pid(name)) }));
    for (const { target } of victims) signalProcess(target.pid, 'SIGKILL');
    await this.restarted(victims);
  }

  /** Waits until others have taken the place of these. */
  async restarted(victims: { name: PartName; target: { pid: number; startTime: string } }[]): Promise<void> {
    await eventually(`${victims.map(({ name }) => name).join(', ')} run again`, async () => {
      if (this.failure) throw this.failure;
      return victims.every(({ name, target }) => !isAlive(target) && this.stack.pids[name] !== target.pid);
    });
  }

  /** A connection of its own, so that it may be asked again after the server was killed. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.stack.addresses.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** A server that was started again may listen elsewhere. */
  async temporal(): Promise<Client> {
    const { temporalAddress: address } = this.stack.addresses;
    if (this.client && this.client.address === address) return this.client.opened;
    await this.disconnect();
    const opened = Connection.connect({ address }).then((connection) => new Client({ connection }));
    const client = { address, opened };
    this.client = client;
    opened.catch(() => {
      if (this.client === client) this.client = undefined;
    });
    return opened;
  }

  private async disconnect(): Promise<void> {
    const client = await this.client?.opened.catch(() => undefined);
    this.client = undefined;
    await client?.connection.close();
  }

  /** Whether the ledger of a runtime says that nobody holds or wants a slot; one that nobody ever asked is not there. */
  private async isLedgerEmpty(runtime: string): Promise<boolean> {
    const handle = (await this.temporal()).workflow.getHandle(`admission:default:${runtime}`);
    try {
      const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      return /^0 of \d+ slots in use, 0 waiting/.test(currentDetails);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return true;
      throw error;
    }
  }

  async failedWorkflowTasks(): Promise<string[]> {
    return failedWorkflowTasks((await this.temporal()).workflow);
  }

  /** Processes of the jobs of a scorecard or a run: by their marker, and wrappers by their directories. */
  processesOf(id: string): string[] {
    return processesOf(`everdict-${id.replaceAll(/[_.]/g, '-')}`);
  }

  /** Nothing of it is anywhere: no process, no attempt that holds a slot, no lease. */
  async expectNothingLeft(id: string, runtime: string): Promise<void> {
    expect(this.processesOf(id)).toEqual([]);
    const live = await this.sql(
      `SELECT run_id, attempt FROM attempts JOIN runs ON runs.id = run_id
       WHERE (runs.scorecard_id = $1 OR runs.id = $1) AND (closed_at IS NULL OR open_attempt IS NOT NULL)`,
      [id],
    );
    expect(live).toEqual([]);
    // Sooner than a slot that nobody gave back would be found.
    await eventually('the ledger is empty', () => this.isLedgerEmpty(runtime), 10_000);
  }
}
