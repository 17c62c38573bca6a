import { EXIT, type ExitCode } from './exit-codes.js';
import { stoppedWaiting } from './failures.js';
import { Outage } from './outage.js';
import { runText } from './run-text.js';
import type { Session } from './session.js';
import { RunReply } from './wire.js';

const POLL_MS = 500;

/** Waits for the end of a run, shows it, and sets the exit code by its outcome. */
export async function waitForRun(session: Session, id: string, patienceSec: number): Promise<void> {
  const { reply, raw } = await untilSettled(session, id, patienceSec * 1_000);
  const logs = `npx everdict run logs ${id}   what it printed\n`;
  session.answer(raw, () => `${runText(reply, session.columns)}\n${logs}`);
  session.terminal.setExitCode(exitCodeOf(reply));
}

const exitCodeOf = ({ outcome, decidedBy }: RunReply): ExitCode => {
  if (decidedBy !== null) return EXIT.unclear;
  if (outcome === 'passed') return EXIT.passed;
  return outcome === 'failed' ? EXIT.failed : EXIT.unclear;
};

/** Also while the platform restarts, for as long as patience lasts. Ctrl-C ends the waiting, not the run. */
async function untilSettled(session: Session, id: string, patienceMs: number) {
  const { terminal, client } = session;
  const interrupt = new AbortController();
  const restore = terminal.onInterrupt(() => interrupt.abort());
  const outage = new Outage(patienceMs, (message) => session.note(message));
  let shown = '';
  try {
    for (;;) {
      const answer = await client
        .get(`/runs/${encodeURIComponent(id)}`, RunReply)
        .catch((error) => outage.bear(error, terminal.now()));
      if (answer) {
        outage.over(terminal.now());
        const { state } = answer.reply;
        if (state === 'settled') return answer;
        if (state !== shown) session.note(`${id} is ${state}`);
        shown = state;
      }
      await terminal.sleep(POLL_MS, interrupt.signal);
      if (interrupt.signal.aborted) throw stoppedWaiting('run', id);
    }
  } finally {
    restore();
  }
}
