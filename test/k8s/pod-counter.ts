import { Pod } from '../../backends/k8s/k8s.replies.js';
import type { Admin } from './admin.js';

const isRunning = ({ status }: Pod): boolean =>
  status.phase === 'Running' && status.containerStatuses.every(({ state }) => !state.terminated);

/** Counts the pods of a namespace that run, by what the cluster itself tells. */
export class PodCounter {
  peak = 0;
  private readonly alive = new Set<string>();
  private readonly known = new Set<string>();

  private constructor(private readonly leaving: AbortController) {}

  static async start(admin: Admin, path: string): Promise<PodCounter> {
    const leaving = new AbortController();
    const counter = new PodCounter(leaving);
    await admin.watch(path, leaving.signal, ({ type, object }) => counter.take(type, Pod.parse(object)));
    return counter;
  }

  /** Pods that were ever there. */
  get seen(): number {
    return this.known.size;
  }

  get running(): number {
    return this.alive.size;
  }

  private take(type: string, pod: Pod): void {
    this.known.add(pod.metadata.uid);
    if (type !== 'DELETED' && isRunning(pod)) this.alive.add(pod.metadata.uid);
    else this.alive.delete(pod.metadata.uid);
    this.peak = Math.max(this.peak, this.alive.size);
  }

  stop(): void {
    this.leaving.abort();
  }
}
