import { EXIT } from './exit-codes.js';
import { CliError } from './failures.js';
import { Outage } from './outage.js';
import { ProgressView } from './progress.js';
import type { Session } from './session.js';
import { ScorecardReply } from './wire.js';

const POLL_MS = 500;

export const isOver = ({ status }: Pick<ScorecardReply, 'status'>): boolean =>
  status === 'completed' || status === 'cancelled';

export const readScorecard = (session: Session, id: string) =>
  session.client.get(`/scorecards/${encodeURIComponent(id)}`, ScorecardReply);

/**
 * Shows progress until the scorecard is over, also while the platform restarts: it gives up only after `patienceMs`
 * without an answer. Ctrl-C ends the waiting, not the scorecard.
 */
export async function follow(session: Session, id: string, patienceMs: number) {
  const { terminal } = session;
  const interrupt = new AbortController();
  const restore = terminal.onInterrupt(() => interrupt.abort());
  const progress = new ProgressView(terminal.err, terminal.now());
  const outage = new Outage(patienceMs, (message) => progress.say(message));
  try {
    for (;;) {
      const answer = await readScorecard(session, id).catch((error) => outage.bear(error, terminal.now()));
      if (answer) {
        outage.over(terminal.now());
        progress.show(answer.reply, terminal.now());
        if (isOver(answer.reply)) return answer;
      }
      await terminal.sleep(POLL_MS, interrupt.signal);
      if (interrupt.signal.aborted) throw interrupted(id);
    }
  } finally {
    progress.end();
    restore();
  }
}

const interrupted = (id: string): CliError =>
  new CliError(
    EXIT.interrupted,
    `stopped waiting; scorecard ${id} goes on`,
    `npx everdict scorecard watch ${id}, or npx everdict scorecard cancel ${id}`,
  );
