import type { Command } from 'commander';
import { Option } from 'commander';
import { z } from 'zod';
import { optionsOf, wholeNumber } from './options.js';
import { caseOf, outcomeOf, reasonOf } from './report.js';
import { type LogOptions, printLogs } from './run-logs.js';
import { Session, type Terminal } from './session.js';
import { plain, plainLines, table } from './text.js';
import { AttemptReply, RunReply } from './wire.js';

const pathOf = (id: string, more = ''): string => `/runs/${encodeURIComponent(id)}${more}`;

/** `run …`: one execution of one case. */
export function addRunCommands(program: Command, terminal: Terminal): void {
  const group = program.command('run').description('one execution of one case: its verdict, log and attempts');
  addShow(group, terminal);
  addLogs(group, terminal);
  addAttempts(group, terminal);
  addCancel(group, terminal);
}

function addShow(group: Command, terminal: Terminal): void {
  group
    .command('show <id>')
    .description('verdict, scores and reason')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(pathOf(id), RunReply);
      session.answer(raw, () => runText(reply, session.columns));
    });
}

function runText(run: RunReply, columns: number): string {
  const facts: [string, string][] = [
    ['case', caseOf(run)],
    ['runtime', run.runtime],
    ['outcome', outcomeOf(run)],
    ['attempts', String(run.attempts)],
  ];
  if (run.durationMs !== null) facts.push(['command', `${(run.durationMs / 1_000).toFixed(2)} s`]);
  if (run.decidedBy !== null) facts.push(['decided', `by ${run.decidedBy}, at ${run.settledAt ?? ''}`]);
  if ((run.outcome !== 'passed' || run.decidedBy !== null) && reasonOf(run)) facts.push(['reason', reasonOf(run)]);
  const head = facts.map(([name, value]) => `${name.padEnd(9)} ${plain(value)}\n`).join('');
  if (!run.scores?.length) return head;
  const heads = ['grader', 'kind', 'passed', 'detail'].map((title) => ({ title }));
  const rows = run.scores.map(({ grader, kind, passed, detail }) => [grader, kind, passed ? 'yes' : 'no', detail]);
  return `${head}\n${table(heads, rows, columns)}`;
}

function addLogs(group: Command, terminal: Terminal): void {
  group
    .command('logs <id>')
    .description('what the job printed, kept after the job is gone')
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

function attemptText(attempt: AttemptReply): string {
  const { answer, answerCut, provenance } = attempt;
  const head = [
    `attempt ${attempt.attempt}`,
    attempt.state,
    attempt.end ?? '',
    attempt.exitCode === null ? '' : `exit code ${attempt.exitCode}`,
    attempt.commandMs === null ? '' : `${(attempt.commandMs / 1_000).toFixed(2)} s`,
  ];
  const lines = [head.filter(Boolean).join('  '), `  allocation  ${attempt.allocation}`];
  for (const [name, value] of Object.entries(provenance)) {
    lines.push(`  ${name.padEnd(10)}  ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  const usage = attempt.usage === null || attempt.usage === undefined ? [] : [JSON.stringify(attempt.usage)];
  lines.push(...usage.map((text) => `  usage       ${text}`));
  const text = lines.map((line) => `  ${plain(line)}`.slice(2)).join('\n');
  if (answer === null) return `${text}\n`;
  return `${text}\n  answer${answerCut ? ' (cut)' : ''}:\n${plainLines(answer).replace(/^/gm, '    ').trimEnd()}\n`;
}

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
