import type { Answer } from '../fake-http/fake-answer.js';
import type { EventRecorder } from './fake-events.js';
import { FakeImages } from './fake-images.js';
import { FakeKubelet, type KubeletOptions } from './fake-kubelet.js';
import type { Pod } from './fake-objects.js';
import { type LogTrouble, logAnswer } from './fake-pod-log.js';
import type { FakeStore } from './fake-store.js';

export type KubeletsOptions = Omit<KubeletOptions, 'node' | 'images' | 'events'>;

/** A kubelet on every node that there is and comes to be. */
export class FakeKubelets {
  readonly images = new FakeImages();
  /** What goes wrong with reads of logs; the first that meets one decides. */
  readonly troubles: LogTrouble[] = [];
  private readonly kubelets = new Map<string, FakeKubelet>();
  private readonly unlisten: () => void;

  constructor(
    private readonly store: FakeStore,
    private readonly events: EventRecorder,
    private readonly options: KubeletsOptions,
  ) {
    for (const { metadata } of store.list('nodes')) this.start(metadata.name);
    this.unlisten = store.onChange(({ kind, object }) => {
      if (kind === 'nodes' && !this.kubelets.has(object.metadata.name)) this.start(object.metadata.name);
    });
  }

  kubeletOf(node: string): FakeKubelet | undefined {
    return this.kubelets.get(node);
  }

  /** A read of the log of a pod that there is. */
  log(pod: Pod, query: URLSearchParams): Answer {
    return logAnswer(this, pod, query);
  }

  /** Ends every process, and starts none any more. */
  async close(): Promise<void> {
    this.unlisten();
    await Promise.all([...this.kubelets.values()].map((kubelet) => kubelet.close()));
  }

  private start(node: string): void {
    const { images, events } = this;
    this.kubelets.set(node, new FakeKubelet(this.store, { ...this.options, node, images, events }));
  }
}
