import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ended, killGroup, launch } from '../job-process.js';
import { type Command, ConfigMissing } from './fake-command.js';
import type { FakeImages } from './fake-images.js';
import type { KubeletPace } from './fake-kubelet-pace.js';
import { ContainerLog } from './fake-log.js';
import type { Container, ContainerStatus } from './fake-objects.js';
import { killDescendant, terminate } from './fake-process.js';
import { type Pulling, pullImage } from './fake-pull.js';
import { startFailure } from './fake-start-failure.js';
import { timestamp } from './fake-store.js';

/** What a container finds where it runs. */
export interface ContainerPlace {
  /** It is one that comes before the others. */
  isInit: boolean;
  images: FakeImages;
  pace: KubeletPace;
  /** Its log is rotated when it is larger. */
  rotateBytes: number;
  command(): Command;
  /** Resolves while its node is up. */
  nodeUp(): Promise<void>;
  event(type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Something of its status is another. */
  changed(): void;
}

type Why = 'oom' | 'restart' | 'node';

/** Runs one container of a pod as a process of this machine, and tells of it as a kubelet does. */
export class ContainerRun {
  status: ContainerStatus;
  log: ContainerLog;
  /** Of the run before, where it was started again. */
  previousLog: ContainerLog | undefined;
  private child: ChildProcess | undefined;
  private why: Why | undefined;
  private graceMs = 0;
  private readonly stopping = new AbortController();

  constructor(
    readonly container: Container,
    private readonly place: ContainerPlace,
    waitingFor: 'ContainerCreating' | 'PodInitializing',
  ) {
    const { name, image = '' } = container;
    this.log = new ContainerLog(place.rotateBytes);
    this.status = {
      ...{ name, image, imageID: '', ready: false, started: false, restartCount: 0, lastState: {} },
      state: { waiting: { reason: waitingFor } },
    };
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.status.state.terminated === undefined;
  }

  get hasStarted(): boolean {
    return this.status.containerID !== undefined;
  }

  /** Until it has ended, or was stopped before it started. */
  async run(): Promise<void> {
    while (!this.isStopping) {
      const command = await this.prepare();
      if (!command || this.isStopping) return;
      await this.execute(command);
      if (this.why !== 'restart') return;
      this.again();
    }
  }

  /** TERM, and what is left after the grace is killed. What has not started does not start. */
  stop(graceMs: number): void {
    if (this.isRunning && !this.isStopping) {
      this.place.event('Normal', 'Killing', `Stopping container ${this.container.name}`);
    }
    this.graceMs = graceMs;
    this.stopping.abort();
    this.interrupt();
  }

  /** Its pod has ended before it could start. */
  giveUp(): void {
    if (this.hasStarted || !this.status.state.waiting) return;
    const message = 'The container could not be located when the pod was terminated';
    const terminated = { exitCode: 137, reason: 'ContainerStatusUnknown', message, startedAt: null, finishedAt: null };
    this.set({ state: { terminated } });
  }

  killNow(): void {
    this.graceMs = 0;
    this.stopping.abort();
    if (this.child) killGroup(this.child);
  }

  /** Memory runs out, and the kernel kills all of it, or only the largest of what it has started. */
  outOfMemory(isChild: boolean): void {
    if (!this.child) return;
    this.why = 'oom';
    if (isChild) killDescendant(this.child);
    else killGroup(this.child);
  }

  restart(): void {
    this.why = 'restart';
    if (this.child) killGroup(this.child);
  }

  /** Its node goes down with all that runs there. */
  loseNode(): void {
    if (!this.isRunning || !this.child) return;
    this.why = 'node';
    killGroup(this.child);
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private interrupt(): void {
    const { child } = this;
    if (!child || !this.isRunning) return;
    terminate(child);
    const timer = setTimeout(() => killGroup(child), this.graceMs);
    child.once('exit', () => clearTimeout(timer));
  }

  private get pulling(): Pulling {
    const { images, pace, event } = this.place;
    const wait = (reason: string, message: string) => this.wait(reason, message);
    return { images, pace, event, wait, pause: (ms) => this.pause(ms), isStopping: () => this.isStopping };
  }

  /** Pulls its image, and looks up what it is to be started with, for as long as it takes. */
  private async prepare(): Promise<Command | undefined> {
    while (!this.isStopping) {
      await this.place.nodeUp();
      if (!(await pullImage(this.container, this.pulling))) continue;
      try {
        return this.place.command();
      } catch (error) {
        if (!(error instanceof ConfigMissing)) throw error;
        this.place.event('Warning', 'Failed', `Error: ${error.message}`);
        this.wait('CreateContainerConfigError', error.message);
        await this.pause(this.place.pace.retryMs);
      }
    }
    return undefined;
  }

  private async execute(command: Command): Promise<void> {
    const { place, container } = this;
    const { name, image = '' } = container;
    const containerID = `containerd://${randomBytes(32).toString('hex')}`;
    const imageID = place.images.idOf(image);
    this.set({ containerID, imageID });
    place.event('Normal', 'Created', `Created container: ${name}`);
    let child: ChildProcess;
    try {
      child = await launch(command);
    } catch (error) {
      const message = startFailure(error, command.program);
      place.event('Warning', 'Failed', `Error: ${message}`);
      this.log.end();
      this.terminated(128, '1970-01-01T00:00:00Z', { reason: 'StartError', message });
      return;
    }
    this.child = child;
    place.event('Normal', 'Started', `Started container ${name}`);
    const startedAt = timestamp();
    const end = ended(child, this.log);
    // It may have been told so while it started.
    if (this.isStopping) this.interrupt();
    const noticed = setTimeout(() => {
      this.set({ started: true, ready: !place.isInit, state: { running: { startedAt } } });
      place.changed();
    }, place.pace.noticeMs);
    const { code } = await end;
    this.log.end();
    clearTimeout(noticed);
    if (this.why === 'node') this.terminated(255, startedAt, { reason: 'Unknown' });
    else this.terminated(code, startedAt, this.why === 'oom' ? { reason: 'OOMKilled' } : {});
  }

  private terminated(exitCode: number, startedAt: string, { reason, message }: { reason?: string; message?: string }) {
    const { containerID } = this.status;
    const terminated = {
      ...{ exitCode, reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error') },
      ...(message !== undefined && { message }),
      ...{ startedAt, finishedAt: timestamp(), containerID },
    };
    this.set({ started: false, ready: this.place.isInit && exitCode === 0, state: { terminated } });
    this.place.changed();
  }

  private again(): void {
    const { state, restartCount } = this.status;
    this.why = undefined;
    this.child = undefined;
    this.previousLog = this.log;
    this.log = new ContainerLog(this.place.rotateBytes);
    this.set({ restartCount: restartCount + 1, lastState: state });
    this.wait('ContainerCreating');
  }

  private wait(reason: string, message?: string): void {
    this.set({ state: { waiting: { reason, ...(message !== undefined && { message }) } } });
    this.place.changed();
  }

  /** What was told is not changed any more. */
  private set(change: Partial<ContainerStatus>): void {
    this.status = { ...this.status, ...change };
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
