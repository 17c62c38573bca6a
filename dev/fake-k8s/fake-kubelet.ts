import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EventRecorder } from './fake-events.js';
import type { FakeImages } from './fake-images.js';
import { type KubeletPace, PACE } from './fake-kubelet-pace.js';
import type { Pod } from './fake-objects.js';
import { type PodEvent, PodRun } from './fake-pod.js';
import type { FakeStore } from './fake-store.js';

export interface KubeletOptions {
  /** Of the node that it is. */
  node: string;
  /** Where pods have their files. */
  root: string;
  images: FakeImages;
  events: EventRecorder;
  pace?: Partial<KubeletPace>;
  /** A log is rotated when it is larger. */
  rotateBytes?: number;
}

const ROTATE_BYTES = 10 * 1024 * 1024;

/** Runs the pods that are bound to one node, and writes their status. */
export class FakeKubelet {
  private readonly runs = new Map<string, PodRun>();
  private readonly unlisten: () => void;
  private isClosed = false;
  /** Aborted while it is down. */
  private down = new AbortController();
  private waiting: (() => void)[] = [];

  constructor(
    private readonly store: FakeStore,
    private readonly options: KubeletOptions,
  ) {
    this.unlisten = store.onChange(({ kind, type, object }) => {
      if (kind !== 'pods') return;
      if (type === 'DELETED') this.forget(object as Pod);
      else this.see(object as Pod);
    });
    this.lookAround();
  }

  get node(): string {
    return this.options.node;
  }

  get isUp(): boolean {
    return !this.down.signal.aborted;
  }

  /** Aborted when it goes down. */
  get downSignal(): AbortSignal {
    return this.down.signal;
  }

  /** What it has of a pod: nothing before it has seen it, and after the pod is gone. */
  runOf({ metadata }: Pod): PodRun | undefined {
    return this.runs.get(metadata.uid);
  }

  /** Tells of something that befalls a pod, unless it is down. */
  tell(pod: Pod, event: PodEvent): void {
    if (!this.isUp || this.isClosed) return;
    this.options.events.record('pods', pod, { ...event, component: 'kubelet', host: this.node });
  }

  /** It is out of reach, and tells nothing. `isKilled`: so does all that runs there. */
  goDown(isKilled: boolean): void {
    this.down.abort();
    if (!isKilled) return;
    for (const { containers } of this.runs.values()) for (const container of containers) container.loseNode();
  }

  /** It is there again, tells what it has, and does what it should have done meanwhile. */
  comeBack(): void {
    this.down = new AbortController();
    for (const resume of this.waiting.splice(0)) resume();
    for (const run of this.runs.values()) run.report();
    this.lookAround();
  }

  /** Ends every process, and starts none any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.unlisten();
    this.down = new AbortController();
    for (const resume of this.waiting.splice(0)) resume();
    const runs = [...this.runs.values()];
    for (const run of runs) run.killNow();
    await Promise.all(runs.map(({ finished }) => finished));
    this.runs.clear();
  }

  private lookAround(): void {
    for (const pod of this.store.list('pods')) this.see(pod);
    for (const run of [...this.runs.values()]) {
      const { name, namespace = '' } = run.pod.metadata;
      if (this.store.get('pods', namespace, name)?.metadata.uid !== run.pod.metadata.uid) this.forget(run.pod);
    }
  }

  private see(pod: Pod): void {
    const { metadata, spec, status } = pod;
    if (spec.nodeName !== this.node || !this.isUp || this.isClosed) return;
    const hasEnded = status.phase === 'Succeeded' || status.phase === 'Failed';
    const run = this.runs.get(metadata.uid) ?? (hasEnded ? undefined : this.start(pod));
    if (metadata.deletionTimestamp === undefined) return;
    if (run) run.delete(metadata.deletionGracePeriodSeconds ?? 0);
    else this.store.remove('pods', metadata.namespace ?? '', metadata.name);
  }

  private start(pod: Pod): PodRun {
    const { root, images, pace, rotateBytes = ROTATE_BYTES } = this.options;
    const run = new PodRun(pod, {
      ...{ store: this.store, images, pace: { ...PACE, ...pace }, rotateBytes },
      directory: join(root, pod.metadata.uid),
      nodeUp: () => this.up(),
      isUp: () => this.isUp,
      event: (of, event) => this.tell(of, event),
    });
    this.runs.set(pod.metadata.uid, run);
    return run;
  }

  private forget({ metadata }: Pod): void {
    const run = this.runs.get(metadata.uid);
    if (!run || !this.isUp) return;
    this.runs.delete(metadata.uid);
    run.killNow();
    void run.finished.then(() => rmSync(join(this.options.root, metadata.uid), { recursive: true, force: true }));
  }

  private async up(): Promise<void> {
    while (!this.isUp) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
