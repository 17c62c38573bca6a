import type { Command } from 'commander';
import { Option } from 'commander';
import { z } from 'zod';
import { optionsOf, wholeNumber } from './options.js';
import { addRunList } from './run-list.js';
import { type LogOptions, printLogs } from './run-logs.js';
import { addRunSubmit } from './run-submit.command.js';
import { attemptText, runText } from './run-text.js';
import { waitForRun } from './run-wait.js';
import { withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { AttemptReply, RunReply } from './wire.js';
import { workflowLink } from './workflow-link.js';

const pathOf = (id: string, more = ''): string => `/runs/${encodeURIComponent(id)}${more}`;

/** `run …`: one execution of one case. */
export function addRunCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('run')
    .description('one execution of one case: submit, watch, show, logs, attempts, cancel, list');
  addRunSubmit(group, terminal);
  addWatch(group, terminal);
  addShow(group, terminal);
  addLogs(group, terminal);
  addAttempts(group, terminal);
  addCancel(group, terminal);
  addRunList(group, terminal);
}

function addShow(group: Command, terminal: Terminal): void {
  group
    .command('show <id>')
    .description('verdict, scores and reason')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(pathOf(id), RunReply);
      const link = await workflowLink(session, `case:${reply.carriedFrom ?? reply.id}`);
      session.answer(raw, () => runText(reply, session.columns) + link);
    });
}

function addWatch(group: Command, terminal: Terminal): void {
  withPatience(group.command('watch <id>'))
    .description('wait for a run and show it; the exit code is its verdict')
    .action(async (id: string, _options, command: Command) => {
      const options = optionsOf<{ patience: number }>(command);
      await waitForRun(new Session(terminal, options), id, options.patience);
    });
}

function addLogs(group: Command, terminal: Terminal): void {
  group
    .command('logs <id>')
    .description('what the job printed, kept after the job is gone')
    .option('-f, --follow', 'while it runs, too: until the run is settled, through all its attempts')
    .option('--raw', 'byte for byte on a terminal, too: colours, and whatever else moves its cursor')
    .option('--attempt <n>', 'which attempt (default: the last)', wholeNumber(1))
    .addOption(new Option('--stream <stream>', 'only one of them').choices(['stdout', 'stderr']))
    .action(async (id: string, _options, command: Command) => {
      const options = optionsOf<LogOptions>(command);
      await printLogs(new Session(terminal, options), id, options);
    });
}

function addAttempts(group: Command, terminal: Terminal): void {
  group
    .command('attempts <id>')
    .description('each try: where it ran, how it ended, what it answered')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { raw } = await session.client.get(pathOf(id, '/attempts'), z.unknown());
      const attempts = Attempts.parse(raw);
      session.answer(raw, () => attempts.map(attemptText).join('\n') || 'no attempt yet\n');
    });
}

const Attempts = z.union([
  z.array(AttemptReply),
  z.object({ items: z.array(AttemptReply) }).transform(({ items }) => items),
]);

function addCancel(group: Command, terminal: Terminal): void {
  group
    .command('cancel <id>')
    .description('stop it; a finished run keeps its result')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post(pathOf(id, '/cancel'), RunReply);
      session.answer(raw, () => `${id} is ${reply.outcome ?? `${reply.state}, to be cancelled`}\n`);
    });
}
