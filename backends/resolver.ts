import { PlatformError } from '../contracts/errors.js';
import type { RuntimeSpec } from '../contracts/runtime.js';
import type { BoundCredential, ClusterCredentials } from '../secrets/cluster-credential.js';
import type { Backend } from './backend.js';
import { type Cluster, type ClusterOptions, createCluster } from './cluster.js';
import { type ClusterClient, ClusterFailure } from './cluster-client.js';
import { type BackendOptions, createLocalBackend } from './factory.js';

/** A registered runtime. */
export interface RuntimeTarget {
  /** The workspace whose it is, and whose secrets it names. */
  owner: string;
  spec: RuntimeSpec;
  /** Without, no secret is read for it. */
  isConfirmed: boolean;
}

/** A runtime with what it takes to speak to it. */
export interface ResolvedRuntime {
  spec: RuntimeSpec;
  /** Whose the runtime is: work of another workspace is a guest there. */
  zone: string;
  credential?: BoundCredential;
  /** Runs jobs there. Refuses, by code, kinds on which this process runs none. */
  readonly backend: Backend;
  /** Looks at the cluster. */
  readonly cluster: ClusterClient;
}

export interface ResolverOptions extends BackendOptions {
  /** Absent: this process speaks to no clusters. */
  clusters?: ClusterOptions & { credentials: Pick<ClusterCredentials, 'required' | 'versionOf'> };
}

/** Runtimes whose connections a process keeps. */
const MOST_KEPT = 100;
const NO_CLUSTER = 'a local runtime has no cluster to look at';

/**
 * Finds what it takes to speak to a runtime, for everything that does. Connections are kept for each version of a
 * runtime and of its credential, whose version is read each time, so that a changed secret is noticed by every process.
 */
export class BackendResolver {
  private local: Backend | undefined;
  private readonly connections = new Map<string, Connection>();

  constructor(private readonly options: ResolverOptions) {}

  /** The backend of this host. One for the process: it knows what it started. */
  forHost(): Backend {
    this.local ??= createLocalBackend(this.options);
    return this.local;
  }

  /**
   * Works with a runtime. Work that is under way keeps the credential it began with; if the cluster refuses that, and
   * the secret has been set anew, it is begun again, once, with the new one.
   */
  async use<T>(target: RuntimeTarget, work: (runtime: ResolvedRuntime) => Promise<T>): Promise<T> {
    if (target.spec.kind === 'local') return work(this.localOf(target));
    const first = await this.connect(target);
    try {
      return await first.during(work);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const next = await this.connect(target);
      if (next === first) throw error;
      return next.during(work);
    }
  }

  /** Ends all connections, each once nothing uses it any more. */
  close(): void {
    for (const key of [...this.connections.keys()]) this.drop(key);
  }

  private localOf({ owner, spec }: RuntimeTarget): ResolvedRuntime {
    const backendOf = (): Backend => this.forHost();
    return {
      spec,
      zone: owner,
      get backend() {
        return backendOf();
      },
      get cluster(): never {
        throw new PlatformError('BACKEND_NOT_BUILT', NO_CLUSTER);
      },
    };
  }

  private async connect({ owner, spec, isConfirmed }: RuntimeTarget): Promise<Connection> {
    const { clusters } = this.options;
    if (!clusters) throw new PlatformError('BACKEND_NOT_BUILT', `this process speaks to no ${spec.kind} clusters`);
    const key = `rt:${owner}:${spec.id}@${spec.version}`;
    const { credentials } = clusters;
    const version = isConfirmed ? await credentials.versionOf(owner, spec) : undefined;
    const known = this.connections.get(key);
    // What nobody confirmed may be replaced under its version.
    const content = JSON.stringify([isConfirmed, spec]);
    if (known?.content === content && known.version === version) {
      this.connections.delete(key);
      this.connections.set(key, known);
      return known;
    }
    this.drop(key);
    const credential = isConfirmed ? await credentials.required(owner, spec) : undefined;
    const made = new Connection({ spec, zone: owner, credential, content }, clusters);
    // Another call may have made one meanwhile.
    this.drop(key);
    this.connections.set(key, made);
    for (const oldest of this.connections.keys()) {
      if (this.connections.size <= MOST_KEPT) break;
      this.drop(oldest);
    }
    return made;
  }

  private drop(key: string): void {
    this.connections.get(key)?.drop();
    this.connections.delete(key);
  }
}

/** What is kept of a runtime for one version of its credential. Closed once it is dropped and nobody uses it. */
class Connection implements ResolvedRuntime {
  private parts: Cluster | undefined;
  private users = 0;
  private isDropped = false;

  readonly spec: RuntimeSpec;
  readonly zone: string;
  readonly credential: BoundCredential | undefined;
  /** What it was made of. */
  readonly content: string;

  constructor(
    { spec, zone, credential, content }: Pick<Connection, 'spec' | 'zone' | 'credential' | 'content'>,
    private readonly clusters: ClusterOptions,
  ) {
    this.spec = spec;
    this.zone = zone;
    this.credential = credential;
    this.content = content;
  }

  /** Of the credential; absent where there is none. */
  get version(): number | undefined {
    return this.credential?.version;
  }

  get backend(): Backend {
    return this.opened.backend;
  }

  get cluster(): ClusterClient {
    return this.opened.client;
  }

  private get opened(): Cluster {
    const { spec } = this;
    if (spec.kind === 'local') throw new PlatformError('BACKEND_NOT_BUILT', NO_CLUSTER);
    this.parts ??= createCluster(spec, this.credential, this.clusters);
    return this.parts;
  }

  async during<T>(work: (runtime: ResolvedRuntime) => Promise<T>): Promise<T> {
    this.users += 1;
    try {
      return await work(this);
    } finally {
      this.users -= 1;
      this.closeIfUnused();
    }
  }

  drop(): void {
    this.isDropped = true;
    this.closeIfUnused();
  }

  private closeIfUnused(): void {
    if (!this.isDropped || this.users > 0) return;
    const { parts } = this;
    this.parts = undefined;
    void parts?.client.close().catch(() => undefined);
  }
}

/** The cluster does not take the credential, or not for this: that may be told as what it comes from. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ClusterFailure && (error.reason === 'auth' || isRefusal(error.cause));
