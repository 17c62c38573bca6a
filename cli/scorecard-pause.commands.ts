import type { Command } from 'commander';
import { jsonBody } from './http.client.js';
import { optionsOf } from './options.js';
import { pathOf } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { plain } from './text.js';
import { ScorecardReply } from './wire.js';

/** `scorecard pause` and `scorecard resume`. */
export function addScorecardPause(group: Command, terminal: Terminal): void {
  group
    .command('pause <id>')
    .description('start no further case of a scorecard; what runs goes on')
    .option('--reason <text>', 'why, for everyone who waits for it')
    .action(async (id: string, _options, command: Command) => {
      const options = optionsOf<{ reason?: string }>(command);
      const session = new Session(terminal, options);
      const body = jsonBody({ reason: options.reason });
      const { reply, raw } = await session.client.post(pathOf(id, '/pause'), ScorecardReply, { body });
      const next = `next: npx everdict scorecard resume ${id}`;
      session.answer(raw, () => `${id} is ${reply.status}: ${plain(reply.pauseReason ?? '')}\n${next}\n`);
    });
  group
    .command('resume <id>')
    .description('go on with a scorecard that is paused')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post(pathOf(id, '/resume'), ScorecardReply);
      session.answer(raw, () => `${id} is ${reply.status}\nnext: npx everdict scorecard watch ${id}\n`);
    });
}
