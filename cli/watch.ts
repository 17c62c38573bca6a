import { followEvents } from './event-source.js';
import { EXIT } from './exit-codes.js';
import { CliError, stoppedWaiting } from './failures.js';
import { Outage } from './outage.js';
import { ProgressView } from './progress.js';
import type { Session } from './session.js';
import { plain } from './text.js';
import { ProgressReply, ScorecardReply } from './wire.js';

const POLL_MS = 500;
/** The clock on the screen goes on while nothing changes. */
const REDRAW_MS = 1_000;

export const isOver = ({ status }: Pick<ScorecardReply, 'status'>): boolean =>
  status === 'completed' || status === 'cancelled';

export const readScorecard = (session: Session, id: string) =>
  session.client.get(`/scorecards/${encodeURIComponent(id)}`, ScorecardReply);

interface Watch {
  session: Session;
  id: string;
  progress: ProgressView;
  outage: Outage;
  signal: AbortSignal;
}

/**
 * Shows progress until the scorecard is over, also while the platform restarts: it gives up only after `patienceMs`
 * without an answer. `signal`, or without one Ctrl-C, ends the waiting, not the scorecard.
 */
export async function follow(session: Session, id: string, patienceMs: number, signal?: AbortSignal) {
  const { terminal } = session;
  const interrupt = new AbortController();
  const restore = signal ? () => {} : terminal.onInterrupt(() => interrupt.abort());
  const progress = new ProgressView(terminal.err, terminal.now());
  const stopClock = terminal.every(REDRAW_MS, () => progress.redraw(terminal.now()));
  const outage = new Outage(patienceMs, (message) => progress.say(message));
  const watch = { session, id, progress, outage, signal: signal ?? interrupt.signal };
  try {
    await showEvents(watch);
    return await poll(watch);
  } finally {
    stopClock();
    progress.end();
    restore();
  }
}

/** Until the end is told. Returns at once where the platform has no events to tell. */
async function showEvents(watch: Watch): Promise<void> {
  const { session, id, outage, signal } = watch;
  const path = `/scorecards/${encodeURIComponent(id)}/events`;
  try {
    for await (const { event, data } of followEvents(session, { path, query: { runs: 'false' }, outage, signal })) {
      if (event === 'progress') show(watch, ProgressReply.parse(JSON.parse(data)));
    }
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.refused) throw error;
  }
}

/** That a scorecard was paused is said once, with the reason and what to do about it. */
function show({ session, id, progress }: Watch, view: ProgressReply | ScorecardReply): void {
  if (view.status === 'paused' && progress.status !== 'paused') {
    progress.say(`paused: ${plain(view.pauseReason ?? '')}\nnext: npx everdict scorecard resume ${id}`);
  }
  progress.show(view, session.terminal.now());
}

async function poll(watch: Watch) {
  const { session, id, outage, signal } = watch;
  const { terminal } = session;
  for (; !signal.aborted; await terminal.sleep(POLL_MS, signal)) {
    const answer = await readScorecard(session, id).catch((error) => outage.bear(error, terminal.now()));
    if (!answer) continue;
    outage.over(terminal.now());
    show(watch, answer.reply);
    if (isOver(answer.reply)) return answer;
  }
  throw stoppedWaiting('scorecard', id);
}
