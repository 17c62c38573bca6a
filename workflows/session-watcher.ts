import { CancellationScope, log, proxyActivities } from '@temporalio/workflow';
import type { SessionActivities } from '../activities/session.activities.js';
import type { SessionRead } from '../contracts/admission.js';
import type { WatchedPool } from '../policy/admission/session-pools.js';
import { inBackground } from './background.js';
import { SESSIONS } from './proxies.js';

const { watchSessionPools } = proxyActivities<SessionActivities>(SESSIONS);

/** After so long without news the pools are told again, so that young leases get old. */
const PATIENCE_MS = 15_000;

interface Watch {
  scope: CancellationScope;
  pools: readonly WatchedPool[];
}

/** Has session pools asked for as long as someone waits in them, by one activity at a time. */
export class SessionWatcher {
  private watch: Watch | undefined;
  private readonly failures = new Map<string, string>();

  constructor(
    private readonly poolId: string,
    private readonly tell: (reads: SessionRead[]) => void,
  ) {}

  /** Watches these pools. Nothing happens where they are watched already. */
  follow(due: readonly WatchedPool[]): void {
    if (due.length > 0 && due.every((each) => this.isWatched(each))) return;
    this.watch?.scope.cancel();
    this.watch = undefined;
    if (due.length === 0) return;
    const watch: Watch = { scope: new CancellationScope(), pools: due };
    this.watch = watch;
    inBackground(() =>
      watch.scope.run(async () => {
        try {
          const request = { poolId: this.poolId, pools: [...due], patienceMs: PATIENCE_MS };
          const { reads } = await watchSessionPools(request);
          this.announce(reads);
          this.tell(reads);
        } finally {
          if (this.watch === watch) this.watch = undefined;
        }
      }),
    );
  }

  /** One that is unread must be told whatever it says, so a watch for something new is not enough. */
  private isWatched({ pool, known }: WatchedPool): boolean {
    const watched = this.watch?.pools.find((each) => each.pool === pool);
    return watched !== undefined && (known !== undefined || watched.known === undefined);
  }

  /** Why a pool tells nothing is said once, until it tells something. */
  private announce(reads: readonly SessionRead[]): void {
    for (const { pool, answer } of reads) {
      if (!answer || !('failure' in answer)) this.failures.delete(pool);
      else if (this.failures.get(pool) !== answer.failure) {
        this.failures.set(pool, answer.failure);
        log.warn('session pool told nothing', { pool, reason: answer.failure });
      }
    }
  }
}
