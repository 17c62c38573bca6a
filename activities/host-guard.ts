import { PlatformError } from '../contracts/errors.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { LocalHostStore } from '../store/local-host.store.js';

/**
 * Local attempts belong to one host. Asked before anything of an attempt is read, settled or killed: on another host
 * its processes are invisible, and would pass for gone.
 */
export class HostGuard {
  constructor(
    private readonly hosts: Pick<LocalHostStore, 'current'>,
    /** Absent where this process serves no local runtimes. */
    private readonly hostId: string | undefined,
  ) {}

  /** The host a new attempt of this kind belongs to. Refuses where there is none. */
  hostIdFor(kind: RuntimeKind): string | undefined {
    if (kind !== 'local') return undefined;
    if (this.hostId !== undefined) return this.hostId;
    throw new PlatformError('WRONG_HOST', 'this worker does not serve local runtimes');
  }

  /** `replaced`: the operator gave the role of the attempt's host to this one. Throws where another host must act. */
  async standing(kind: RuntimeKind, owner: string | undefined): Promise<'here' | 'replaced'> {
    const own = this.hostIdFor(kind);
    if (own === owner) return 'here';
    if (own !== undefined && (await this.hosts.current()) === own) return 'replaced';
    throw new PlatformError(
      'WRONG_HOST',
      `the attempt belongs to ${owner ?? 'no host'}, and this is ${own ?? 'another'}`,
    );
  }
}
