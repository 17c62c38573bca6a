import type { Command } from 'commander';
import { jsonBody } from './http.client.js';
import { listOptions, optionsOf, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { plain, table } from './text.js';
import { BaselineReply } from './wire.js';

const pathOf = (name: string): string => `/baselines/${encodeURIComponent(name)}`;

/** `baseline …`: names for scorecards that others are compared with. */
export function addBaselineCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('baseline')
    .alias('baselines')
    .description('names for scorecards that others are compared with (pin, list, unpin)');
  addPin(group, terminal);
  listOptions(group.command('list'))
    .description('list what is pinned')
    .action(async (_options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/baselines', BaselineReply, options);
      const heads = ['name', 'scorecard', 'pinned', 'by'].map((title) => ({ title }));
      const rows = listing.items.map((item) => [item.name, item.scorecard, item.pinnedAt.slice(0, 19), item.pinnedBy]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'nothing is pinned yet\n',
      );
    });
  group
    .command('unpin <name>')
    .description('take the name back; the scorecard stays')
    .action(async (name: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.delete(pathOf(name), BaselineReply);
      session.answer(raw, () => `${plain(reply.name)} is pinned to ${plain(reply.scorecard)} no more\n`);
    });
}

function addPin(group: Command, terminal: Terminal): void {
  const command = group
    .command('pin <name> <scorecard>')
    .description('pin a completed scorecard under a name, or move the name to it')
    .action(async (name: string, scorecard: string, _options, self: Command) => {
      const session = new Session(terminal, optionsOf(self));
      const { reply, raw } = await session.client.put(pathOf(name), BaselineReply, { body: jsonBody({ scorecard }) });
      session.answer(raw, () => `${plain(reply.name)} is ${plain(reply.scorecard)}\n`);
    });
  withExamples(command, ['baseline pin release-2 sc_01k5q8zj3v0000000000000000']);
}
