import { type Command, Option } from 'commander';
import { RetryClass } from '../contracts/reroll.js';
import { collect, optionsOf, withExamples } from './options.js';
import { pathOf, waitAndReport, withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { create } from './submit.js';
import { Retried } from './wire.js';

interface RetryOptions {
  class?: string[];
  idempotencyKey?: string;
  wait: boolean;
  patience: number;
}

const ofClass = new Option(
  '--class <class>',
  `what is run again: ${RetryClass.options.join(', ')}; may be repeated (default: infra)`,
).argParser(collect);

export function addScorecardRetry(group: Command, terminal: Terminal): void {
  const command = group
    .command('retry <id>')
    .description(
      'run cases of a finished scorecard again, in a new one that carries its other results, and report that',
    )
    .addOption(ofClass)
    .option('--idempotency-key <key>', 'the same key again within 24 h is the same retry')
    .option('--no-wait', 'only start it')
    .action(async (id: string, _options, self: Command) => {
      const options = optionsOf<RetryOptions>(self);
      const session = new Session(terminal, options);
      const query = { class: options.class };
      const path = pathOf(id, '/retry');
      const { reply, raw } = await create(session, path, Retried, { query }, options.idempotencyKey);
      const what = `${reply.retried} of ${reply.cases} again, ${reply.carried} carried from ${id}`;
      if (!options.wait) {
        session.answer(raw, () => `${reply.id}: ${what}\nnext: npx everdict scorecard watch ${reply.id}\n`);
        return;
      }
      session.note(`${reply.id}: ${what}`);
      await waitAndReport(session, reply.id, options.patience);
    });
  withExamples(withPatience(command), [
    'scorecard retry sc_01k5q8zj3v0000000000000000',
    'scorecard retry sc_01k5q8zj3v0000000000000000 --class infra --class cancelled --no-wait',
  ]);
}
