import type { Command } from 'commander';
import { optionsOf } from './options.js';
import { list, moreOf } from './pages.js';
import { stateLine } from './progress.js';
import { endedEarly, headline, rateTable, runTable, SHOWN_CASES } from './report.js';
import { rerollTable } from './reroll-text.js';
import { type RunListOptions, runFilter, runListOptions } from './run-list.js';
import { addScorecardDelete } from './scorecard-delete.commands.js';
import { addScorecardDiff } from './scorecard-diff.command.js';
import { addScorecardExport } from './scorecard-export.command.js';
import { addScorecardGate } from './scorecard-gate.command.js';
import { addScorecardList } from './scorecard-list.command.js';
import { addScorecardPause } from './scorecard-pause.commands.js';
import { addScorecardRegrade } from './scorecard-regrade.command.js';
import { addScorecardReport } from './scorecard-report.command.js';
import { addScorecardRetry } from './scorecard-retry.command.js';
import { addScorecardRun } from './scorecard-run.command.js';
import { addScorecardSettle } from './scorecard-settle.command.js';
import { addScorecardTrials } from './scorecard-trials.command.js';
import { pathOf, readNotPassed, readTrials, waitAndReport, withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { addStragglers } from './stragglers.command.js';
import { plain } from './text.js';
import { trialsText } from './trials-text.js';
import { readScorecard } from './watch.js';
import { RunReply, ScorecardReply } from './wire.js';
import { workflowLink } from './workflow-link.js';

/** `scorecard …`: submit, follow and read scorecards. */
export function addScorecardCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('scorecard')
    .description(
      'a dataset × a harness on a runtime: run, watch, show, cases, trials, diff, gate, stragglers, pause, resume, cancel, settle, retry, regrade, list, export, report, delete, restore',
    );
  addScorecardRun(group, terminal);
  addWatch(group, terminal);
  addShow(group, terminal);
  addCases(group, terminal);
  addScorecardTrials(group, terminal);
  addScorecardDiff(group, terminal);
  addStragglers(group, terminal);
  addScorecardPause(group, terminal);
  addCancel(group, terminal);
  addScorecardSettle(group, terminal);
  addScorecardRetry(group, terminal);
  addScorecardRegrade(group, terminal);
  addScorecardList(group, terminal);
  addScorecardExport(group, terminal);
  addScorecardDelete(group, terminal);
  addScorecardReport(group, terminal);
  addScorecardGate(group, terminal);
}

function addWatch(group: Command, terminal: Terminal): void {
  withPatience(group.command('watch <id>'))
    .description('wait for a scorecard and report it; the exit code is its verdict')
    .action(async (id: string, _options, command: Command) => {
      const options = optionsOf<{ patience: number }>(command);
      await waitAndReport(new Session(terminal, options), id, options.patience);
    });
}

function addShow(group: Command, terminal: Terminal): void {
  group
    .command('show <id>')
    .description('how a scorecard stands now: its exit code says nothing about the verdict')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await readScorecard(session, id);
      const trials = session.isJson || reply.trials === 1 ? undefined : (await readTrials(session, id)).reply;
      const link = await workflowLink(session, `scorecard:${reply.id}`);
      session.answer(raw, () => {
        const isOpen = reply.finishedAt === null && reply.deadlineAt !== null;
        const deadline = isOpen ? `ends at ${reply.deadlineAt} at the latest\n` : '';
        const paused = reply.status === 'paused' ? `paused: ${plain(reply.pauseReason ?? '')}\n` : '';
        const head = `${headline(reply)}: ${reply.status}\n${endedEarly(reply)}${paused}${stateLine(reply)}\n${deadline}\n`;
        const tried = trials ? `\n${trialsText(trials, SHOWN_CASES, session.columns)}` : '';
        const rates = rateTable(reply, session.columns) + rerollTable(reply, session.columns);
        return `${head}${rates}${tried}\nnpx everdict scorecard cases ${id}   every case\n${link}`;
      });
    });
}

interface CasesOptions extends RunListOptions {
  notPassed?: boolean;
}

function addCases(group: Command, terminal: Terminal): void {
  runListOptions(group.command('cases <id>'))
    .description('the runs of a scorecard, one for each case and trial')
    .option('--not-passed', 'only those that failed, errored or were cancelled')
    .action(async (id: string, _options, command: Command) => {
      const options = optionsOf<CasesOptions>(command);
      const session = new Session(terminal, options);
      const listing = options.notPassed
        ? await readNotPassed(session, id, options.limit)
        : await list(session, pathOf(id, '/cases'), RunReply, options, runFilter(options));
      session.answer({ items: listing.raw, next: listing.next }, () =>
        listing.items.length > 0 ? casesText(id, listing, session.columns, options.notPassed) : 'no such case\n',
      );
    });
}

function casesText(
  id: string,
  listing: { items: RunReply[]; next: string | null },
  columns: number,
  isMerged?: boolean,
): string {
  const more = isMerged && listing.next !== null ? 'more: the same command with a higher --limit\n' : moreOf(listing);
  return `${runTable(listing.items, columns)}${more}\nnpx everdict run show ${id}.<run>   one of them\n`;
}

function addCancel(group: Command, terminal: Terminal): void {
  group
    .command('cancel <id>')
    .description('stop what runs and drop what waits; finished cases keep their result')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post(pathOf(id, '/cancel'), ScorecardReply);
      session.answer(raw, () => `${id} is ${reply.status}\nnext: npx everdict scorecard watch ${id}\n`);
    });
}
