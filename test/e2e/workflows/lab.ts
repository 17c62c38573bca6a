import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { LocalBackend } from '../../../backends/local/local.backend.js';
import { readLocalHost } from '../../../backends/local/local.host.js';
import type { Demand } from '../../../contracts/admission.js';
import { newId } from '../../../store/ids.js';
import type { NewScorecard } from '../../../store/scorecard-insert.js';
import { admissionWorkflowId, scorecardStart, TASK_QUEUES } from '../../../workflows/messages.js';
import type { SweepResult } from '../../../workflows/sweep.workflow.js';
import { aCase, aDataset, aHarness, aRuntime, MEMBER } from '../../builders.js';
import { aWorld, POOL, type World } from '../../integration/store/world.js';
import { TestPlatform } from '../../temporal.js';

export const MINUTE = 60_000;

/** A control plane, its stores, and a harness that runs each case's task as a shell script. */
export class Lab {
  private datasets = 0;
  private sweeps = 0;

  private constructor(
    readonly platform: TestPlatform,
    readonly world: World,
    private readonly harnessPk: number,
    /** For what jobs note themselves. */
    readonly dir: string,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<Lab> {
    const platform = await TestPlatform.open(settings);
    const world = await aWorld(platform.db.dataSource);
    await world.harnesses.insert('default', aHarness({ id: 'shell', command: 'sh "$EVERDICT_TASK_FILE"' }), MEMBER);
    const harness = await world.harnesses.find('default', 'shell');
    if (!harness) throw new Error('the harness was not stored');
    return new Lab(platform, world, harness.pk, mkdtempSync(path.join(tmpdir(), 'everdict-lab-')));
  }

  /** A scorecard with one case a task. */
  async submit(tasks: string[], parts: Partial<NewScorecard> = {}): Promise<string> {
    this.datasets += 1;
    const cases = tasks.map((task, i) => aCase({ id: `case-${i}`, task }));
    const pk = await this.world.register(aDataset({ id: `lab-${this.datasets}`, cases }));
    const { id } = await this.world.scorecards.create(
      this.world.newScorecard(pk, { harnessPk: this.harnessPk, ...parts }),
    );
    return id;
  }

  /** A run of its own. */
  async submitRun(task: string, demand: Demand = {}): Promise<string> {
    const { id } = await this.world.runs.create({
      id: newId('run'),
      workspaceId: 'default',
      case: { own: aCase({ id: 'own', task }) },
      harnessPk: this.harnessPk,
      site: { poolId: POOL, version: '1.0.0' },
      class: 'interactive',
      demand,
      infraRetries: 0,
      params: {},
      metadata: {},
    });
    await this.world.runs.markStarted(id);
    return id;
  }

  async start(scorecardId: string): Promise<WorkflowHandle> {
    const [known] = (await this.world.scorecards.unstarted(1_000)).filter(({ id }) => id === scorecardId);
    if (!known) throw new Error(`${scorecardId} is not there to be started`);
    const { id: _, ...input } = known;
    const start = scorecardStart({ ...input, scorecardId }, 10_000);
    const handle = await this.platform.client.workflow.start('scorecardWorkflow', start);
    await this.world.scorecards.markStarted(scorecardId);
    return handle;
  }

  /** One sweep, as the schedule starts them. */
  async sweep(): Promise<SweepResult> {
    this.sweeps += 1;
    return this.platform.client.workflow.execute('sweepWorkflow', {
      args: [],
      workflowId: this.lastSweep,
      taskQueue: TASK_QUEUES.control,
    });
  }

  get lastSweep(): string {
    return `sweep-${this.sweeps}`;
  }

  /** Changes the limits, as a new version of the runtime does. */
  async setSlots(slots: number, version: string, memoryMb?: number): Promise<number> {
    const spec = aRuntime({ version, maxConcurrent: slots, memoryBudgetMb: memoryMb });
    const envelope = { slots, ...(memoryMb !== undefined && { memoryMb }) };
    return (await this.world.runtimes.insert('default', spec, envelope, MEMBER)).limits?.envelopeVersion ?? 0;
  }

  /** A task that notes its start and its end in `file`, and runs for `seconds`. */
  task(file: string, seconds: number): string {
    const log = this.file(file);
    return `echo start >> ${log}; sleep ${seconds}; echo end >> ${log}`;
  }

  /** The same, until `release` of that file. */
  heldTask(file: string): string {
    const log = this.file(file);
    return `echo start >> ${log}; until [ -e ${log}.go ]; do sleep 0.1; done; echo end >> ${log}`;
  }

  release(file: string): void {
    appendFileSync(`${this.file(file)}.go`, '');
  }

  file(name: string): string {
    const file = path.join(this.dir, name);
    appendFileSync(file, '');
    return file;
  }

  /** How many jobs noted their start, and the most that ran at once, as they say themselves. */
  noted(name: string): { starts: number; most: number } {
    let [starts, running, most] = [0, 0, 0];
    for (const line of readFileSync(this.file(name), 'utf8').split('\n')) {
      if (line === 'start') {
        starts += 1;
        running += 1;
      }
      if (line === 'end') running -= 1;
      most = Math.max(most, running);
    }
    return { starts, most };
  }

  /** Allocations that still hold a slot. */
  async liveAttempts(): Promise<string[]> {
    const found = await this.world.dataSource.query('SELECT allocation FROM attempts WHERE closed_at IS NULL');
    return found.map(({ allocation }: { allocation: string }) => allocation);
  }

  /** What the ledger says of itself; nothing while it does not run. */
  async ledgerDetails(): Promise<string> {
    const ledger = this.platform.client.workflow.getHandle(admissionWorkflowId(POOL));
    if ((await ledger.describe()).status.name !== 'RUNNING') return '';
    return (await ledger.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
  }

  /** Whether the ledger says that nobody holds or wants a slot. */
  async isLedgerEmpty(): Promise<boolean> {
    return /^0 of \d+ slots in use, 0 waiting/.test(await this.ledgerDetails());
  }

  /** From now on, counts outcomes that are written over. */
  async countRepeatedSettles(): Promise<void> {
    await this.world.dataSource.query(`
      CREATE TABLE repeated_settles (run_id text);
      CREATE FUNCTION note_repeated_settle() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO repeated_settles VALUES (NEW.id); RETURN NEW; END $$;
      CREATE TRIGGER repeated AFTER UPDATE OF outcome ON runs FOR EACH ROW WHEN (OLD.outcome IS NOT NULL)
        EXECUTE FUNCTION note_repeated_settle();`);
  }

  async repeatedSettles(): Promise<number> {
    return (await this.world.dataSource.query('SELECT * FROM repeated_settles')).length;
  }

  /** Local jobs beside those of the workers, on their host. */
  async backend(): Promise<LocalBackend> {
    const { EVERDICT_STATE_DIR: stateDir, PATH: path, LANG: lang } = this.platform.env;
    const host = await readLocalHost(stateDir);
    return new LocalBackend({ isAllowed: true, stateDir, host, environment: { path, lang }, graceMs: 1_000 });
  }

  async pause(ms: number): Promise<false> {
    await sleep(ms);
    return false;
  }

  async close(): Promise<void> {
    await this.platform.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
