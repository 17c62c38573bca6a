import { type Command, Option } from 'commander';
import { jsonBody } from './http.client.js';
import { optionsOf, requireOptions, wholeNumber, withExamples } from './options.js';
import { Session, type Terminal } from './session.js';
import { RetentionReply } from './wire.js';

type Days = number | 'ever';

const days = (text: string): Days => (text === 'ever' ? text : wholeNumber(1, 36_500)(text));
const asSent = (given: Days): number | null => (given === 'ever' ? null : given);

/** `retention …`: how long a workspace keeps results and logs. */
export function addRetentionCommands(program: Command, terminal: Terminal): void {
  const group = program.command('retention').description('how long results and logs are kept (show, set)');
  group
    .command('show')
    .description('how long they are kept')
    .action(async (_options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get('/retention', RetentionReply);
      session.answer(raw, () => textOf(reply));
    });
  const command = requireOptions(group.command('set'), [
    new Option('--results <days>', 'days after its end until a scorecard is deleted; or `ever`').argParser(days),
    new Option('--logs <days>', 'the same for the logs of its runs, at most as many; or `ever`').argParser(days),
  ])
    .description('set both; it takes an admin')
    .action(async (_options, self: Command) => {
      const { results, logs, ...options } = optionsOf<{ results: Days; logs: Days }>(self);
      const session = new Session(terminal, options);
      const body = jsonBody({ resultsDays: asSent(results), logsDays: asSent(logs) });
      const { reply, raw } = await session.client.put('/retention', RetentionReply, { body });
      session.answer(raw, () => textOf(reply));
    });
  withExamples(command, ['retention set --results 365 --logs 30', 'retention set --results ever --logs ever']);
}

function textOf({ resultsDays, logsDays, graceDays }: RetentionReply): string {
  const results =
    resultsDays === null
      ? 'for ever'
      : `for ${resultsDays} days, and restorable for ${Number(graceDays.toPrecision(2))} more`;
  const logs = logsDays === null ? 'as long as results' : `for ${logsDays} days`;
  return `results are kept ${results}\nlogs are kept ${logs}\n`;
}
