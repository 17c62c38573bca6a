import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { QueueEntry, RunWaiting } from '../../contracts/run-waiting.js';
import type { RuntimeAdmission } from '../../contracts/runtime-admission.js';
import { eventually } from '../eventually.js';
import { E2ePlatform, MINUTE, type Registered } from './platform.js';

/** Sooner than a ledger looks at its limits by itself, every 20 s, also on a busy machine. */
const REACHES_MS = 10_000;

let platform: E2ePlatform;
beforeAll(async () => {
  platform = await E2ePlatform.start();
}, MINUTE);
afterAll(() => platform?.stop(), MINUTE);

/** A runtime of its own whose jobs note their start and run until they are let go. */
async function aStage(size: number, runtime: object): Promise<Stage> {
  const name = `stage-${size}-${Object.keys(runtime).join('-')}`;
  const notes = path.join(platform.dir, name);
  writeFileSync(notes, '');
  const command = `echo "$EVERDICT_RUN_ID" >> '${notes}'
    while [ ! -e '${notes}.go' ] && [ ! -e "${notes}.$EVERDICT_RUN_ID" ]; do sleep 0.05; done`;
  const cases = Array.from({ length: size }, (_, n) => ({ id: `case-${n}`, task: 'x' }));
  const registered = await platform.register({ runtime: { ...runtime }, harness: { command }, cases });
  return new Stage(registered, notes);
}

class Stage {
  constructor(
    readonly registered: Registered,
    private readonly notes: string,
  ) {}

  /** In the order in which they started. */
  get started(): string[] {
    return readFileSync(this.notes, 'utf8').split('\n').slice(0, -1);
  }
  letGo(run: string): void {
    writeFileSync(`${this.notes}.${run}`, '');
  }
  letAllGo(): void {
    writeFileSync(`${this.notes}.go`, '');
  }
  starts(count: number, withinMs?: number): Promise<unknown> {
    return eventually(`${count} jobs started`, async () => this.started.length === count, withinMs);
  }
  dial(change: object): Promise<unknown> {
    return platform.ok('PATCH', `/runtimes/${this.registered.runtime}/admission`, change);
  }
  async queue(): Promise<QueueEntry[]> {
    const { runtime } = this.registered;
    return (await platform.ok<{ items: QueueEntry[] }>('GET', `/queue?runtime=${runtime}`)).items;
  }
  admission(): Promise<RuntimeAdmission> {
    return platform.ok('GET', `/runtimes/${this.registered.runtime}/admission`);
  }
}

const why = (run: string) => platform.ok<RunWaiting>('GET', `/runs/${run}/waiting`);

test(
  'what is set for a runtime reaches work that waits at once, and stops nothing that runs',
  async () => {
    const stage = await aStage(5, { maxConcurrent: 3 });
    await stage.dial({ limits: { slots: 1 } });
    const id = await platform.submit(stage.registered);
    await stage.starts(1);
    expect(await why(`${id}.4`)).toMatchObject({ reason: 'slots', limit: 1, used: 1 });
    await stage.dial({ limits: { slots: 2 } });
    await stage.starts(2, REACHES_MS);

    await stage.dial({ mode: 'paused' });
    await eventually('it is paused', async () => (await why(`${id}.4`)).reason === 'paused', REACHES_MS);
    const [first = ''] = stage.started;
    stage.letGo(first);
    await platform.settled(first);
    await eventually('its slot is free', async () => (await stage.admission()).inUse.slots === 1);
    expect((await stage.admission()).dial.mode).toBe('paused');
    expect(stage.started).toHaveLength(2);

    // It ends by itself, and the rest starts.
    await stage.dial({ mode: 'paused', forSec: 1, limits: null });
    await stage.starts(4, 1_000 + REACHES_MS);
    stage.letAllGo();
    await platform.completed(id);
  },
  2 * MINUTE,
);

test(
  'the queue is the order in which runs start, a promoted one first, and a cancelled one is out of it',
  async () => {
    const stage = await aStage(6, { maxConcurrent: 1, description: 'one slot' });
    const id = await platform.submit(stage.registered);
    await stage.starts(1);
    const waiting = await eventually('the others wait', async () => {
      const queue = await stage.queue();
      return queue.length === 5 && queue;
    });
    expect(waiting.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);

    const last = waiting.at(-1)?.run ?? '';
    await platform.ok('POST', `/queue/${last}/promote`);
    await eventually('it is the first', async () => (await stage.queue())[0]?.run === last);
    const [, cancelled = ''] = (await stage.queue()).map(({ run }) => run);
    await platform.ok('POST', `/runs/${cancelled}/cancel`);
    const queue = await eventually('it is out', async () => {
      const runs = (await stage.queue()).map(({ run }) => run);
      return !runs.includes(cancelled) && runs;
    });

    const { holders } = await stage.admission();
    expect(holders).toMatchObject([{ run: stage.started[0], phase: 'running', timeoutSec: 1_800 }]);
    stage.letAllGo();
    const { counts } = await platform.completed(id);
    expect([counts.passed, counts.cancelled]).toEqual([5, 1]);
    expect(stage.started.slice(1)).toEqual(queue);
    expect(await platform.failedWorkflowTasks()).toEqual([]);
  },
  2 * MINUTE,
);

test(
  'a quota holds across runtimes, is the reason of what it holds up, and is lifted at once',
  async () => {
    const [one, other] = [await aStage(1, { maxConcurrent: 2 }), await aStage(2, { maxConcurrent: 3 })];
    await platform.ok('PATCH', '/workspaces/default', { maxRunning: 1 });
    const first = await platform.submit(one.registered);
    await one.starts(1);
    const second = await platform.submit(other.registered);
    await eventually('it waits for the quota', async () => {
      const { reason, scope, limit, used } = await why(`${second}.1`);
      return reason === 'quota' && [scope, limit, used].join() === 'workspace default,1,1';
    });
    await platform.ok('PATCH', '/workspaces/default', { maxRunning: null });
    await other.starts(2, REACHES_MS);
    one.letAllGo();
    other.letAllGo();
    await Promise.all([platform.completed(first), platform.completed(second)]);
  },
  2 * MINUTE,
);
