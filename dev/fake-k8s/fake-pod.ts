import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf } from './fake-command.js';
import { type ContainerPlace, ContainerRun } from './fake-container.js';
import type { Happening } from './fake-events.js';
import type { FakeImages } from './fake-images.js';
import type { KubeletPace } from './fake-kubelet-pace.js';
import type { Container, Pod } from './fake-objects.js';
import { endOf, type PodState, statusOf, type Verdict } from './fake-pod-status.js';
import { type FakeStore, timestamp } from './fake-store.js';
import { makeVolumes, VolumeMissing } from './fake-volumes.js';

/** As a kubelet tells it. */
export type PodEvent = Pick<Happening, 'type' | 'reason' | 'message' | 'fieldPath'>;

/** What a pod finds on its node. */
export interface PodPlace {
  store: FakeStore;
  images: FakeImages;
  pace: KubeletPace;
  rotateBytes: number;
  /** Of this pod, on this machine. */
  directory: string;
  nodeUp(): Promise<void>;
  /** A node that is down tells nothing. */
  isUp(): boolean;
  event(pod: Pod, event: PodEvent): void;
}

const DEADLINE: Verdict = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};
const DEFAULT_GRACE_SECONDS = 30;
/** A timer that is longer would end at once. */
const LONGEST_MS = 2_147_483_647;

/**
 * Runs one pod: waits for its volumes, its init containers one after the other, then all others, and says in the status
 * of the pod how far it is. A pod that is deleted or has to go is asked to end, and killed after its grace.
 */
export class PodRun {
  readonly init: readonly ContainerRun[];
  readonly main: readonly ContainerRun[];
  /** Its containers were removed with their logs, though the pod is there. */
  isLogLost = false;
  private readonly startTime = timestamp();
  private readonly stopping = new AbortController();
  private hasSandbox = false;
  private isSettled = false;
  private verdict: Verdict | undefined;
  /** It is being deleted. */
  private graceSeconds: number | undefined;
  private deadline: NodeJS.Timeout | undefined;
  /** Its containers have ended, and what follows from it is told. */
  readonly finished: Promise<void>;

  constructor(
    readonly pod: Pod,
    private readonly place: PodPlace,
  ) {
    const { initContainers = [], containers } = pod.spec;
    const waitingFor = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
    const runOf = (isInit: boolean) => (container: Container) =>
      new ContainerRun(container, this.placeOf(container, isInit), waitingFor);
    this.init = initContainers.map(runOf(true));
    this.main = containers.map(runOf(false));
    this.finished = new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.run());
  }

  get containers(): readonly ContainerRun[] {
    return [...this.init, ...this.main];
  }

  /** As it is deleted; where it is deleted again with a shorter grace, that counts. */
  delete(graceSeconds: number): void {
    const before = this.graceSeconds;
    if (before !== undefined && before <= graceSeconds) return;
    this.graceSeconds = graceSeconds;
    this.stop(graceSeconds);
    if (before === undefined) void this.finished.then(() => this.remove());
  }

  /** It has to go, though nobody deleted it. */
  fail(verdict: Verdict, graceSeconds: number): void {
    this.verdict ??= verdict;
    this.report();
    this.stop(graceSeconds);
  }

  killNow(): void {
    this.stopping.abort();
    for (const container of this.containers) container.killNow();
  }

  /** Says how it stands, where its node is up. */
  report(): void {
    const { store, isUp } = this.place;
    const { name, namespace = '', uid } = this.pod.metadata;
    if (!isUp()) return;
    store.update('pods', namespace, name, (pod) => {
      if (pod.metadata.uid === uid) pod.status = statusOf(pod, this.state);
    });
  }

  private get state(): PodState {
    const { startTime, hasSandbox, isSettled, verdict } = this;
    const statusesOf = (runs: readonly ContainerRun[]) => runs.map(({ status }) => status);
    return {
      ...{ startTime, hasSandbox, isSettled, init: statusesOf(this.init), main: statusesOf(this.main) },
      ...(verdict && { verdict }),
    };
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private stop(graceSeconds: number): void {
    this.stopping.abort();
    for (const container of this.containers) container.stop(graceSeconds * 1_000);
  }

  private async run(): Promise<void> {
    const { pace } = this.place;
    await this.place.nodeUp();
    this.report();
    this.watchDeadline();
    await this.pause(pace.createMs);
    await this.mountVolumes();
    this.hasSandbox = !this.isStopping;
    for (const container of this.init) {
      if (this.isStopping || endOf(this.state)) break;
      await container.run();
    }
    if (!this.isStopping && !endOf(this.state)) await Promise.all(this.main.map((container) => container.run()));
    clearTimeout(this.deadline);
    if (!this.isStopping) await sleep(pace.settleMs);
    await this.place.nodeUp();
    if (!this.init.some(({ hasStarted }) => hasStarted)) for (const container of this.main) container.giveUp();
    this.isSettled = true;
    this.report();
  }

  /** The object goes when nothing of it is left on its node. */
  private async remove(): Promise<void> {
    const { store, pace, nodeUp } = this.place;
    const { name, namespace = '', uid } = this.pod.metadata;
    this.isLogLost = true;
    await sleep(pace.removeMs);
    await nodeUp();
    if (store.get('pods', namespace, name)?.metadata.uid === uid) store.remove('pods', namespace, name);
  }

  private watchDeadline(): void {
    const { activeDeadlineSeconds, terminationGracePeriodSeconds = DEFAULT_GRACE_SECONDS } = this.pod.spec;
    if (activeDeadlineSeconds === undefined) return;
    const exceed = async (): Promise<void> => {
      await this.place.nodeUp();
      this.place.event(this.pod, { type: 'Normal', ...DEADLINE });
      this.fail(DEADLINE, terminationGracePeriodSeconds);
    };
    this.deadline = setTimeout(() => void exceed(), Math.min(activeDeadlineSeconds * 1_000, LONGEST_MS));
  }

  private async mountVolumes(): Promise<void> {
    const { store, pace, directory } = this.place;
    const { namespace = '' } = this.pod.metadata;
    while (!this.isStopping) {
      await this.place.nodeUp();
      try {
        const secretOf = (name: string) => store.get('secrets', namespace, name);
        makeVolumes(join(directory, 'volumes'), this.pod.spec.volumes ?? [], secretOf);
        return;
      } catch (error) {
        if (!(error instanceof VolumeMissing)) throw error;
        this.place.event(this.pod, { type: 'Warning', reason: 'FailedMount', message: error.message });
        await this.pause(pace.retryMs);
      }
    }
  }

  private placeOf(container: Container, isInit: boolean): ContainerPlace {
    const { store, images, pace, rotateBytes, directory, nodeUp } = this.place;
    const { pod } = this;
    const { namespace = '' } = pod.metadata;
    const fieldPath = `spec.${isInit ? 'initContainers' : 'containers'}{${container.name}}`;
    return {
      ...{ isInit, images, pace, rotateBytes, nodeUp },
      command: () =>
        commandOf(pod, container, {
          volumes: join(directory, 'volumes'),
          work: join(directory, 'work', container.name),
          secretOf: (name) => store.get('secrets', namespace, name),
        }),
      event: (type, reason, message) => this.place.event(pod, { type, reason, message, fieldPath }),
      // Of one that is being ended all of it is told at once.
      changed: () => {
        if (!this.isStopping) this.report();
      },
    };
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
