import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ended, killGroup, launch } from '../job-process.js';
import type { TaskDocument, TaskGroup } from './fake-documents.js';
import { type Command, commandOf, isContainer } from './fake-driver.js';
import { type TaskDirectories, Unfit, type Variables, writeTemplates } from './fake-interpolation.js';
import type { TaskState } from './fake-state.js';
import { addEvent, addTerminated } from './fake-task-events.js';
import type { LogFiles } from './fake-task-logs.js';

/** What a registry does when an image is asked for. */
export interface ImagePull {
  /** Its text, after which the pull has failed. */
  failure?: string;
  takesMs?: number;
}

/** What a task finds where it runs. */
export interface TaskPlace {
  group: TaskGroup;
  directories: TaskDirectories;
  known: Variables;
  logs: LogFiles;
  images: ReadonlyMap<string, ImagePull>;
  /** How long the end of an executor takes to be believed. */
  executorMs: number;
  started(): void;
  ended(): void;
  /** Something of its state is another. */
  changed(): void;
}

/** `again`: as its restart policy has it. */
type Outcome = 'done' | 'again' | 'final';

const NS_PER_MS = 1_000_000;
const EXECUTOR_LOST =
  'executor: error waiting on process: rpc error: code = Unavailable desc = error reading from server: EOF';

/** Runs one task as a process of this machine, and tells of it as a client does. */
export class TaskRun {
  readonly state: TaskState = {
    ...{ State: 'pending', Failed: false, Restarts: 0, LastRestart: null, StartedAt: null, FinishedAt: null },
    Events: [],
  };
  private child: ChildProcess | undefined;
  private readonly killed = new AbortController();
  private readonly executor = new AbortController();
  private isOom = false;
  private isForced = false;

  constructor(
    readonly task: TaskDocument,
    private readonly place: TaskPlace,
  ) {}

  async run(): Promise<void> {
    this.event('Received', 'Task received by client');
    this.event('Task Setup', 'Building Task Directory', { Message: 'Building Task Directory' });
    let outcome = await this.attempt();
    while (outcome === 'again' && !this.isKilled && (await this.mayRestart())) outcome = await this.attempt();
    if (this.isKilled && this.child) this.event('Killed', 'Task successfully killed');
    this.state.State = 'dead';
    this.state.Failed = outcome !== 'done' && !this.isKilled;
    this.state.FinishedAt = new Date().toISOString();
    this.place.changed();
  }

  /** Ends it, first with its signal and then by force. */
  kill(): void {
    if (this.isKilled || this.state.State === 'dead') return;
    this.killed.abort();
    this.interrupt();
  }

  /** As the kernel kills it where memory runs out. `isTold`: the driver knows why. */
  outOfMemory(isTold: boolean): void {
    this.isOom = isTold;
    if (this.child) killGroup(this.child);
  }

  /** What watches the process is gone; the process lives on. */
  loseExecutor(): void {
    this.executor.abort();
  }

  /** With all that it started; also what is about to start. */
  killNow(): void {
    this.isForced = true;
    if (this.child) killGroup(this.child);
  }

  private get isKilled(): boolean {
    return this.killed.signal.aborted;
  }

  private interrupt(): void {
    const { child, task } = this;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const timeoutMs = task.KillTimeout / NS_PER_MS;
    const details = { kill_timeout: `${timeoutMs / 1000}s` };
    this.event('Killing', `Sent interrupt. Waiting ${timeoutMs / 1000}s before force killing`, { Details: details });
    const timer = setTimeout(() => killGroup(child), timeoutMs);
    child.once('exit', () => clearTimeout(timer));
    child.kill((task.KillSignal || (isContainer(task) ? 'SIGTERM' : 'SIGINT')) as NodeJS.Signals);
  }

  private async attempt(): Promise<Outcome> {
    const { place, task } = this;
    try {
      await writeTemplates(task, place.directories, place.known);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      this.event('Killing', `Template failed: ${error.message}`, { FailsTask: true });
      return 'final';
    }
    let command: Command;
    try {
      command = commandOf(task, place.known, place.directories);
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      const Details = { validation_error: error.message };
      this.event('Failed Validation', error.message, { FailsTask: true, Details });
      return 'final';
    }
    const refused = command.image === undefined ? undefined : await this.pull(command.image);
    if (this.isKilled) return 'done';
    return refused ?? this.execute(command);
  }

  /** Ends well with nothing. */
  private async pull(image: string): Promise<Outcome | undefined> {
    const pull = this.place.images.get(image);
    if (!pull) return undefined;
    this.event('Driver', 'Downloading image', { Details: { image } });
    const stop = { signal: this.killed.signal };
    if (pull.takesMs !== undefined) await sleep(pull.takesMs, undefined, stop).catch(() => undefined);
    if (pull.failure === undefined || this.isKilled) return undefined;
    this.driverFailure(`Failed to pull \`${image}\`: ${pull.failure}`);
    if (!/Error: image .+ not found/.test(pull.failure)) return 'again';
    this.notRestarting('Error was unrecoverable');
    return 'final';
  }

  private async execute(command: Command): Promise<Outcome> {
    const { place, state } = this;
    try {
      this.child = await launch(command);
    } catch (error) {
      this.driverFailure(`failed to launch command with executor: ${error instanceof Error ? error.message : error}`);
      return 'again';
    }
    place.started();
    const end = ended(this.child, place.logs).finally(() => place.ended());
    state.State = 'running';
    state.StartedAt = new Date().toISOString();
    this.event('Started', 'Task started by client');
    // It may have been told so while it started.
    if (this.isKilled) this.interrupt();
    if (this.isForced) killGroup(this.child);
    const { signal } = this.executor;
    const orphaned = new Promise<'orphaned'>((resolve) => signal.addEventListener('abort', () => resolve('orphaned')));
    const result = await Promise.race([end, orphaned]);
    if (result === 'orphaned') {
      addTerminated(state, { code: 0, signal: 0, message: EXECUTOR_LOST });
      place.changed();
      await sleep(place.executorMs);
      return 'again';
    }
    const message = this.isOom && isContainer(this.task) ? 'OOM Killed' : undefined;
    addTerminated(state, { ...result, isOom: this.isOom, message });
    place.changed();
    return result.code === 0 ? 'done' : 'again';
  }

  private async mayRestart(): Promise<boolean> {
    const { Attempts, Interval, Delay } = this.place.group.RestartPolicy;
    const { state } = this;
    if (state.Restarts >= Attempts) {
      const hours = `${Interval / NS_PER_MS / 3_600_000}h0m0s`;
      const exceeded = `Exceeded allowed attempts ${Attempts} in interval ${hours} and mode is "fail"`;
      this.notRestarting(Attempts === 0 ? 'Policy allows no restarts' : exceeded);
      return false;
    }
    const delayMs = Delay / NS_PER_MS;
    Object.assign(state, { State: 'pending', Restarts: state.Restarts + 1, LastRestart: new Date().toISOString() });
    this.event('Restarting', `Task restarting in ${delayMs / 1000}s`, { RestartReason: 'Restart within policy' });
    await sleep(delayMs, undefined, { signal: this.killed.signal }).catch(() => undefined);
    return !this.isKilled;
  }

  private driverFailure(text: string): void {
    this.event('Driver Failure', text, { DriverError: text, Details: { driver_error: text } });
  }

  private notRestarting(reason: string): void {
    this.event('Not Restarting', reason, { RestartReason: reason, FailsTask: true });
  }

  private event(...[type, text, parts]: [string, string, Parameters<typeof addEvent>[3]?]): void {
    addEvent(this.state, type, text, parts);
    this.place.changed();
  }
}
