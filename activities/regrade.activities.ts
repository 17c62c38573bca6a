import { setImmediate as others } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import { regradedVerdict } from '../policy/results.js';
import type { Graded, RegradeStore } from '../store/regrade.store.js';
import { withHeartbeat } from './heartbeat.js';

interface Deps {
  regrades: Pick<RegradeStore, 'page' | 'settle'>;
}

export type RegradeActivities = ReturnType<typeof createRegradeActivities>;

export function createRegradeActivities({ regrades }: Deps) {
  return {
    /** Grades every run that has no outcome yet, a page at a time. Another try goes on with those that are left. */
    async regradeScorecard({ scorecardId }: { scorecardId: string }): Promise<void> {
      const signal = cancellationSignal();
      let written = 0;
      await withHeartbeat(
        () => ({ written }),
        async () => {
          for (;;) {
            signal.throwIfAborted();
            const page = await regrades.page(scorecardId);
            if (page.length === 0) return;
            const graded: Graded[] = [];
            for (const { id, record, graders } of page) {
              graded.push({ id, verdict: regradedVerdict(record, graders) });
              // A long answer takes a while; heartbeats and other work come in between.
              await others();
            }
            written += await regrades.settle(graded);
          }
        },
      );
    },
  };
}
