import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { E2ePlatform } from '../e2e/platform.js';
import { liveProcesses } from './process-table.js';

const EVERY_MS = 100;
const MARKER = 'EVERDICT_ATTEMPT';

interface Snapshot {
  submitted: number;
  queued: number;
  waiting: number;
  running: number;
  settled: number;
  live: number;
}

/** One statement, so one instant. */
const SNAPSHOT = `
  SELECT s.total AS submitted,
    count(*) FILTER (WHERE outcome IS NULL AND open_attempt IS NULL AND asked_at IS NULL)::int AS queued,
    count(*) FILTER (WHERE outcome IS NULL AND open_attempt IS NULL AND asked_at IS NOT NULL)::int AS waiting,
    count(*) FILTER (WHERE outcome IS NULL AND open_attempt IS NOT NULL)::int AS running,
    count(*) FILTER (WHERE outcome IS NOT NULL)::int AS settled,
    (SELECT count(*)::int FROM attempts a JOIN runs r ON r.id = a.run_id
     WHERE r.scorecard_id = $1 AND a.closed_at IS NULL) AS live
  FROM scorecards s JOIN runs ON runs.scorecard_id = s.id WHERE s.id = $1 GROUP BY s.total`;

/** Makes the database itself note every change of an outcome, by whomever. */
const LEDGER = `
  CREATE SCHEMA IF NOT EXISTS observed;
  CREATE TABLE IF NOT EXISTS observed.outcomes (run_id text, before text, after text, at timestamptz);
  CREATE OR REPLACE FUNCTION observed.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO observed.outcomes VALUES (NEW.id, OLD.outcome, NEW.outcome, clock_timestamp()); RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER observed AFTER UPDATE OF outcome ON runs FOR EACH ROW
    WHEN (OLD.outcome IS NOT NULL OR NEW.outcome IS NOT NULL) EXECUTE FUNCTION observed.note()`;

/** Looks at a scorecard all the time from outside, in its tables and in the process table, whatever is down. */
export class Observer {
  readonly violations = new Set<string>();
  looks = 0;
  /** Most jobs with live processes at once. */
  private mostJobs = 0;
  private settledBefore = 0;
  private db: pg.Client | undefined;
  private isStopping = false;
  private loop: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly platform: E2ePlatform,
    private readonly id: string,
    private readonly slots: number,
  ) {}

  static async prepare(platform: E2ePlatform): Promise<void> {
    await platform.sql(LEDGER);
  }

  static start(platform: E2ePlatform, id: string, slots: number): Observer {
    const observer = new Observer(platform, id, slots);
    observer.loop = Promise.all([observer.watchTables(), observer.watchProcesses()]);
    return observer;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.loop;
    await this.db?.end().catch(() => undefined);
    if (this.looks === 0) this.violations.add('the tables were never looked at');
    if (this.mostJobs === 0) this.violations.add('no process of a job was ever seen');
  }

  private async watchTables(): Promise<void> {
    for (; !this.isStopping; await sleep(EVERY_MS)) {
      try {
        this.db ??= await this.connect();
        const [now] = (await this.db.query<Snapshot>(SNAPSHOT, [this.id])).rows;
        if (now) this.judge(now);
      } catch {
        // Postgres is down.
        await this.db?.end().catch(() => undefined);
        this.db = undefined;
      }
    }
  }

  private async connect(): Promise<pg.Client> {
    const { databaseUrl: connectionString } = this.platform.stack.addresses;
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  private judge({ submitted, queued, waiting, running, settled, live }: Snapshot): void {
    this.looks += 1;
    const sum = queued + waiting + running + settled;
    if (sum !== submitted) this.violations.add(`${sum} runs of ${submitted} are in some state`);
    if (live > this.slots) this.violations.add(`${live} attempts are open on ${this.slots} slots`);
    if (running > live) this.violations.add(`${running} runs are running, with ${live} open attempts`);
    if (settled < this.settledBefore) this.violations.add(`${settled} runs are settled, ${this.settledBefore} were`);
    this.settledBefore = settled;
  }

  private async watchProcesses(): Promise<void> {
    const prefix = `everdict-${this.id.replaceAll('_', '-')}-`;
    for (; !this.isStopping; await sleep(EVERY_MS)) {
      const names = liveProcesses().map(({ environment }) => environment[MARKER]);
      const jobs = new Set(names.filter((name) => name?.startsWith(prefix)));
      this.mostJobs = Math.max(this.mostJobs, jobs.size);
      if (jobs.size > this.slots) {
        this.violations.add(`${jobs.size} jobs have live processes on ${this.slots} slots: ${[...jobs].join(' ')}`);
      }
    }
  }
}
