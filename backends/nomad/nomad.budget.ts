import type { Agent } from 'undici';
import type { DispatcherOptions, Egress } from '../egress/guard.js';

/** Gives what was taken back; a second time it does nothing. */
export type GiveBack = () => void;

/**
 * How many requests of this process one Nomad has to answer at a time: each takes a connection, and an agent takes a
 * limited number of one address. Whoever comes first is served first.
 */
export class NomadBudget {
  private taken = 0;
  private waits = 0;
  private readonly queue: (() => void)[] = [];
  /** Jobs that are watched there now. */
  watched = 0;

  constructor(private readonly size: number) {}

  /** A turn; waits for it. Rejects if the signal aborts first. */
  async take(signal: AbortSignal): Promise<GiveBack> {
    signal.throwIfAborted();
    if (this.taken < this.size) this.taken += 1;
    else await this.queued(signal);
    return once(() => this.passOn());
  }

  /** A turn for a request that Nomad may hold for long, if one is free: they leave half of all to the others. */
  tryTakeToWait(): GiveBack | undefined {
    if (this.taken >= this.size || this.waits >= Math.floor(this.size / 2)) return undefined;
    this.taken += 1;
    this.waits += 1;
    return once(() => {
      this.waits -= 1;
      this.passOn();
    });
  }

  private queued(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.queue.splice(this.queue.indexOf(take), 1);
        reject(signal.reason);
      };
      const take = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      signal.addEventListener('abort', abort, { once: true });
      this.queue.push(take);
    });
  }

  private passOn(): void {
    const next = this.queue.shift();
    if (next) next();
    else this.taken -= 1;
  }
}

/** A share in the connections of this process to one Nomad. */
export interface NomadConnections {
  dispatcher: Agent;
  budget: NomadBudget;
  /** The last one ends the connections at once. */
  giveBack(): Promise<void>;
}

interface Origin {
  budget: NomadBudget;
  /** By the certificate authority they trust. */
  agents: Map<string, { agent: Agent; shares: number }>;
}

/** By what they may dial, and where they lead. */
const ORIGINS = new WeakMap<Egress, Map<string, Origin>>();

/**
 * Connections to where a URL leads, the same for all of this process that lead there. One of those that it may have is
 * left out: Nomad counts one that ended until it learns of that, when another may have taken its place.
 */
export function connectionsTo(url: URL, egress: Egress, allowed: DispatcherOptions): NomadConnections {
  const options = { ...allowed, connections: Math.max(1, allowed.connections - 1) };
  const origins = ORIGINS.get(egress) ?? new Map<string, Origin>();
  ORIGINS.set(egress, origins);
  const origin = origins.get(url.origin) ?? { budget: new NomadBudget(options.connections), agents: new Map() };
  origins.set(url.origin, origin);
  const trusted = options.tls?.ca ?? '';
  const shared = origin.agents.get(trusted) ?? { agent: egress.dispatcher(options), shares: 0 };
  origin.agents.set(trusted, shared);
  shared.shares += 1;
  let isBack = false;
  return {
    dispatcher: shared.agent,
    budget: origin.budget,
    async giveBack() {
      if (isBack) return;
      isBack = true;
      shared.shares -= 1;
      if (shared.shares > 0) return;
      origin.agents.delete(trusted);
      if (origin.agents.size === 0) origins.delete(url.origin);
      await shared.agent.destroy();
    },
  };
}

function once(work: () => void): GiveBack {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
