import type { Command } from 'commander';
import { usageError } from './failures.js';
import { optionsOf } from './options.js';
import { pathOf } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { plain } from './text.js';
import { DeletedReply, ScorecardReply } from './wire.js';

/** `scorecard delete` and `restore`. */
export function addScorecardDelete(group: Command, terminal: Terminal): void {
  group
    .command('delete <id>')
    .option('--yes', 'without being asked')
    .description('delete a scorecard with its runs, answers and logs; for some days it can be restored')
    .action(async (id: string, _options, command: Command) => {
      const { yes, ...options } = optionsOf<{ yes?: boolean }>(command);
      const session = new Session(terminal, options);
      // Whoever cannot be asked has said it with the id.
      const isMeant = yes || (await terminal.ask(`delete ${plain(id)} with all its results?`)) !== false;
      if (!isMeant) throw usageError(`${id} was not deleted`);
      const { reply, raw } = await session.client.delete(pathOf(id), DeletedReply);
      session.answer(raw, () => `${id} is deleted\n`);
      session.note(`until ${plain(reply.purgeAt)}: npx everdict scorecard restore ${id}`);
    });
  group
    .command('restore <id>')
    .description('bring a deleted scorecard back')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post(pathOf(id, '/restore'), ScorecardReply);
      session.answer(raw, () => `${id} is back: ${reply.status}\n`);
    });
}
