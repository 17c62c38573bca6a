import type { BackendResolver } from '../backends/resolver.js';
import { within } from '../backends/time-limit.js';
import { PlatformError } from '../contracts/errors.js';
import type { AttemptStore } from '../store/attempt.store.js';
import type { Attempt } from '../store/attempt-row.js';
import type { RunJob } from '../store/run.store.js';
import { refOf, targetOf } from './attempt-address.js';
import type { HostGuard } from './host-guard.js';
import { onCluster } from './on-cluster.js';

export interface RemoverDeps {
  backends: Pick<BackendResolver, 'use'>;
  host: Pick<HostGuard, 'standing'>;
  attempts: Pick<AttemptStore, 'markCleanupPending'>;
  /** How long a cluster is asked to confirm that an allocation is gone, before the sweep goes on with it. */
  cleanupMs: number;
  /** The same before another attempt: a cluster that is out of reach for so long is no reason to have none. */
  unreachableMs: number;
}

/** Of one try, at most: more than a backend takes to say why, and less than the activity has for it. */
const TRY_MS = 50_000;
/** Before another attempt, at most: less than the workflow waits for all tries. */
const LONGEST_MS = 38 * 60_000;

/**
 * Removes what an attempt left on its cluster. `triedMs`: for how long that was tried. Throws where it is to be tried
 * again. False: the cluster would not confirm that it is gone, so it keeps its slot, and the sweep goes on.
 */
export class AttemptRemover {
  constructor(private readonly deps: RemoverDeps) {}

  remove(attempt: Attempt, run: RunJob, triedMs: number): Promise<boolean> {
    return this.removeWithin(this.deps.cleanupMs, attempt, run, triedMs);
  }

  removeBeforeRetry(attempt: Attempt, run: RunJob, triedMs: number): Promise<boolean> {
    const { cleanupMs, unreachableMs } = this.deps;
    return this.removeWithin(Math.max(cleanupMs, Math.min(unreachableMs, LONGEST_MS)), attempt, run, triedMs);
  }

  /** Throws where the cluster does not confirm it. */
  async removeNow(attempt: Attempt, run: RunJob): Promise<void> {
    const { host, backends, cleanupMs } = this.deps;
    if ((await host.standing(run.runtime.kind, attempt.hostId)) === 'replaced') return;
    const removal = onCluster(backends, targetOf(run), ({ backend }) => backend.stop(refOf(attempt)));
    const limitMs = Math.min(TRY_MS, cleanupMs);
    await within(limitMs, removal, () => unconfirmed(run, attempt, limitMs));
  }

  private async removeWithin(limitMs: number, attempt: Attempt, run: RunJob, triedMs: number): Promise<boolean> {
    try {
      await this.removeNow(attempt, run);
      return true;
    } catch (error) {
      if (triedMs < limitMs) throw error;
      await this.deps.attempts.markCleanupPending(attempt.runId, attempt.attempt);
      return false;
    }
  }
}

const unconfirmed = ({ runtime }: RunJob, { allocation }: Attempt, limitMs: number): PlatformError =>
  new PlatformError(
    'CLUSTER_UNREACHABLE',
    `runtime ${runtime.id}@${runtime.version} did not confirm within ${limitMs / 1_000} s that ${allocation} is gone`,
  );
