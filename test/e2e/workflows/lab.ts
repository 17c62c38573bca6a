import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { newId } from '../../../store/ids.js';
import type { NewScorecard } from '../../../store/scorecard-insert.js';
import { scorecardStart } from '../../../workflows/messages.js';
import { aCase, aDataset, aHarness, aRuntime } from '../../builders.js';
import { aWorld, POOL, type World } from '../../integration/store/world.js';
import { TestPlatform } from '../../temporal.js';

export const MINUTE = 60_000;

/** A control plane, its stores, and a harness that runs each case's task as a shell script. */
export class Lab {
  private datasets = 0;

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
    await world.harnesses.insert('default', aHarness({ id: 'shell', command: 'sh "$EVERDICT_TASK_FILE"' }));
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
  async submitRun(task: string): Promise<string> {
    const { id } = await this.world.runs.create({
      id: newId('run'),
      workspaceId: 'default',
      case: { own: aCase({ id: 'own', task }) },
      harnessPk: this.harnessPk,
      site: { poolId: POOL, version: '1.0.0' },
      class: 'interactive',
      demand: {},
      infraRetries: 0,
      params: {},
      metadata: {},
    });
    await this.world.runs.markStarted(id);
    return id;
  }

  async start(scorecardId: string): Promise<WorkflowHandle> {
    const total = (await this.world.scorecards.counts(scorecardId))?.submitted ?? 0;
    const start = scorecardStart({ workspaceId: 'default', scorecardId, total }, 10_000);
    const handle = await this.platform.client.workflow.start('scorecardWorkflow', start);
    await this.world.scorecards.markStarted(scorecardId);
    return handle;
  }

  /** Changes the number of slots, as a new version of the runtime does. */
  async setSlots(slots: number, version: string): Promise<number> {
    const spec = aRuntime({ version, maxConcurrent: slots });
    return (await this.world.runtimes.insert('default', spec, { slots })).envelopeVersion ?? 0;
  }

  /** A task that notes its start and its end in `file`, and runs for `seconds`. */
  task(file: string, seconds: number): string {
    const log = this.file(file);
    return `echo start >> ${log}; sleep ${seconds}; echo end >> ${log}`;
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

  async pause(ms: number): Promise<false> {
    await sleep(ms);
    return false;
  }

  async close(): Promise<void> {
    await this.platform.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
