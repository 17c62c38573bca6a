import { type Command, Option } from 'commander';
import { jsonBody } from './http.client.js';
import { optionsOf, requireOptions, wholeNumber } from './options.js';
import { caseOf, outcomeOf } from './report.js';
import { pathOf } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { plain } from './text.js';
import { RunReply } from './wire.js';

interface SettleOptions {
  outcome: string;
  reason: string;
  trial?: number;
}

export function addScorecardSettle(group: Command, terminal: Terminal): void {
  const outcomes = ['passed', 'failed', 'errored', 'cancelled'];
  const needed = [
    new Option('--outcome <outcome>', 'how it ends').choices(outcomes),
    new Option('--reason <text>', 'why, for everyone who reads the result'),
  ];
  requireOptions(group.command('settle <id> <caseId>'), needed)
    .description('decide a case that has no outcome, as an operator: its job is stopped, and no pass rate counts it')
    .option('--trial <n>', 'which trial, where the case has several', wholeNumber(1))
    .action(async (id: string, caseId: string, _options, command: Command) => {
      const options = optionsOf<SettleOptions>(command);
      const session = new Session(terminal, options);
      const { outcome, reason, trial } = options;
      const path = pathOf(id, `/cases/${encodeURIComponent(caseId)}/settle`);
      const { reply, raw } = await session.client.post(path, RunReply, { body: jsonBody({ outcome, reason, trial }) });
      session.answer(raw, () => `${reply.id} (${plain(caseOf(reply))}) is ${outcomeOf(reply)}\n`);
    });
}
