import type { Command } from 'commander';
import { EXIT_HELP, exitCodeOf } from './exit-codes.js';
import { wholeNumber } from './options.js';
import { type Listing, list, type Reader } from './pages.js';
import { report, SHOWN_CASES } from './report.js';
import type { Session } from './session.js';
import { TrialReply } from './verdict-wire.js';
import { follow } from './watch.js';
import { RunReply } from './wire.js';

export const pathOf = (id: string, more = ''): string => `/scorecards/${encodeURIComponent(id)}${more}`;

/** The commands that wait and then judge share how long they bear silence. */
export const withPatience = (command: Command): Command =>
  command
    .option('--patience <seconds>', 'give up waiting after so long without an answer', wholeNumber(1), 300)
    .addHelpText('after', EXIT_HELP);

/** Waits for the end, prints the result, and sets the exit code by it. */
export async function waitAndReport(session: Session, id: string, patienceSec: number): Promise<void> {
  const { reply: scorecard, raw } = await follow(session, id, patienceSec * 1_000);
  const notPassed = session.isJson ? [] : (await readNotPassed(session, id, SHOWN_CASES)).items;
  const trials = session.isJson || scorecard.trials === 1 ? undefined : (await readTrials(session, id)).reply;
  const { columns } = session;
  session.answer(raw, () => report({ scorecard, notPassed, trials, url: session.client.url, columns }));
  session.terminal.setExitCode(exitCodeOf(scorecard));
}

export const readTrials = (session: Session, id: string) => session.client.get(pathOf(id, '/trials'), TrialReply);

/** Failed, errored and cancelled runs, in this order. `next` only says whether there are more. */
export async function readNotPassed(reader: Reader, id: string, limit: number): Promise<Listing<RunReply>> {
  const found: Listing<RunReply> = { items: [], raw: [], next: null };
  for (const outcome of ['failed', 'errored', 'cancelled']) {
    const room = limit - found.items.length;
    if (room < 1) break;
    const listing = await list(reader, pathOf(id, '/cases'), RunReply, { limit: room }, { outcome });
    found.items.push(...listing.items);
    found.raw.push(...listing.raw);
    found.next = listing.next;
  }
  return found;
}
