import type { Kind, Pod, Stored } from './fake-objects.js';
import type { FakeStore } from './fake-store.js';

export type ConnectionKind = 'watch' | 'log' | 'call';

/** What happened, by the fake's own count and clock: what a proof goes by. */
export class FakeLedger {
  /** Pods that ran, by the name of their Job, or their own. */
  readonly starts = new Map<string, number>();
  /** Creations that were taken by the API, by kind and name: `jobs/ev-1`. */
  readonly creations = new Map<string, number>();
  /** Calls by verb and resource: `create jobs`. */
  readonly calls = new Map<string, number>();
  /** The most there ever were at a time. */
  peakRunning = 0;
  peakConnections = 0;
  readonly peaks: Record<ConnectionKind, number> = { watch: 0, log: 0, call: 0 };
  readonly open: Record<ConnectionKind, number> = { watch: 0, log: 0, call: 0 };
  private readonly started = new Set<string>();
  private readonly live = new Set<string>();

  constructor(private readonly store: FakeStore) {
    store.onChange(({ kind, type, object }) => {
      if (kind === 'pods') this.see(object as Pod, type === 'DELETED');
    });
  }

  get running(): number {
    return this.live.size;
  }

  created(kind: string, name: string): void {
    count(this.creations, `${kind}/${name}`);
  }

  called(verb: string, resource: string): void {
    count(this.calls, `${verb} ${resource}`);
  }

  connected(open: number): void {
    this.peakConnections = Math.max(this.peakConnections, open);
  }

  /** Ends with what it returns. */
  serving(kind: ConnectionKind): () => void {
    this.open[kind] += 1;
    this.peaks[kind] = Math.max(this.peaks[kind], this.open[kind]);
    return () => {
      this.open[kind] -= 1;
    };
  }

  /** What there still is with a label, as paths. */
  left(label: string, value: string): string[] {
    const kinds: Kind[] = ['jobs', 'pods', 'secrets', 'networkpolicies'];
    return kinds.flatMap((kind) =>
      this.store
        .list(kind)
        .filter(({ metadata }: Stored) => metadata.labels?.[label] === value)
        .map(({ metadata }: Stored) => `${kind}/${metadata.name}`),
    );
  }

  /** A container that has begun is what counts: a short one may never be seen as running. */
  private see({ metadata, status }: Pod, isGone: boolean): void {
    const { uid, name, labels } = metadata;
    const states = (status.containerStatuses ?? []).map(({ state }) => state);
    const hasBegun = states.some((state) => state.running || state.terminated);
    if (hasBegun && !this.started.has(uid)) {
      this.started.add(uid);
      count(this.starts, labels?.['batch.kubernetes.io/job-name'] ?? name);
    }
    if (!isGone && states.some((state) => state.running)) this.live.add(uid);
    else this.live.delete(uid);
    this.peakRunning = Math.max(this.peakRunning, this.live.size);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
