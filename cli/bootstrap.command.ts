import type { Command } from 'commander';
import { usageError } from './failures.js';
import { messageOf } from './foreign-errors.js';
import { Session, type Terminal } from './session.js';

/** `bootstrap`: the first admin key, by whoever has the database. */
export function addBootstrap(program: Command, terminal: Terminal): void {
  program
    .command('bootstrap')
    .description('make the first admin key of a deployment, once; it needs DATABASE_URL')
    .action(async (_options, command: Command) => {
      const { makeFirstKey } = await import('../dev/bootstrap.js');
      const first = await makeFirstKey().catch((error: unknown) => {
        throw usageError(messageOf(error));
      });
      if (first === undefined) {
        throw usageError(
          'there is an admin key already',
          'an admin makes more with `npx everdict key create`; without one, the operator key does',
        );
      }
      const session = new Session(terminal, command.optsWithGlobals());
      session.answer(first, () => `${first.value}\n`);
      session.note(
        `key ${first.id}: admin of workspace default. It is not shown again; \`npx everdict login\` keeps it`,
      );
    });
}
