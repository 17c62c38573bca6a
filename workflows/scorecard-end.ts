import { CancellationScope, condition, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import type { ScorecardActivities } from '../activities/scorecard.activities.js';
import { inBackground } from './background.js';
import { casesEnded, type ScorecardInput } from './messages.js';
import { SURVEY } from './proxies.js';

/** May write to every run of a scorecard. */
const { endLate, endEarly } = proxyActivities<ScorecardActivities>(SURVEY);

/** What ends a scorecard before all its cases did. */
export class Ending {
  isEnded = false;
  private hasNews = false;

  /** More is known of its cases. */
  readonly noteCases = (): void => {
    this.hasNews = true;
  };

  async byDeadline(scorecardId: string, deadlineAt: number): Promise<void> {
    await sleep(Math.max(1, deadlineAt - Date.now()));
    await endLate({ scorecardId });
  }

  /** Returns once the verdict was certain and the rest is cancelled. */
  async byVerdict(scorecardId: string): Promise<void> {
    do {
      await condition(() => this.hasNews);
      this.hasNews = false;
    } while (!(await endEarly({ scorecardId })));
  }
}

/**
 * Runs `work` until it is done, its deadline passes or its verdict is certain. Then every run without outcome is ended in
 * the database first; after that the windows are cancelled, so that cases which run stop their jobs, find their outcome
 * written, and clean up.
 */
export async function untilEnded(
  { scorecardId, deadlineAt, stopsEarly }: ScorecardInput,
  work: (ending: Ending) => Promise<void>,
): Promise<void> {
  const ending = new Ending();
  if (deadlineAt === undefined && !stopsEarly) return work(ending);
  const [working, watching] = [new CancellationScope(), new CancellationScope()];
  const endBy = (cause: Promise<void>): Promise<void> =>
    cause.then(() => {
      ending.isEnded = true;
      working.cancel();
    });
  if (deadlineAt !== undefined) {
    inBackground(() => watching.run(() => endBy(ending.byDeadline(scorecardId, deadlineAt))));
  }
  if (stopsEarly) {
    setHandler(casesEnded, ending.noteCases);
    inBackground(() => watching.run(() => endBy(ending.byVerdict(scorecardId))));
  }
  try {
    await working.run(() => work(ending));
  } catch (error) {
    if (!ending.isEnded || CancellationScope.current().consideredCancelled) throw error;
  } finally {
    watching.cancel();
  }
}
