import type { Command } from 'commander';
import { z } from 'zod';
import { listOptions, optionsOf, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { jsonFile, refPath } from './spec-files.js';
import { plain, table } from './text.js';

/** Its rules are shown as they came: a newer platform may know more of them. */
const PolicyReply = z.looseObject({
  id: z.string(),
  version: z.string(),
  description: z.string().optional(),
  latest: z.boolean().optional(),
  registeredBy: z.string().optional(),
  createdAt: z.string().optional(),
});

/** `policy …`: the rules by which scorecards are judged. */
export function addPolicyCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('policy')
    .alias('policies')
    .description('rules by which scorecards are judged (add, list, show)');
  const add = group
    .command('add <file>')
    .alias('register')
    .description('register a policy from a JSON file; the same content again changes nothing')
    .action(async (file: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post('/policies', PolicyReply, { body: await jsonFile(file) });
      const next = `npx everdict scorecard gate --policy ${reply.id} <candidate>   judges by it`;
      session.answer(raw, () => `${plain(`policy ${reply.id}@${reply.version} is registered`)}\n${plain(next)}\n`);
    });
  withExamples(add, ['policy add examples/policies/merge.json']);
  addList(group, terminal);
  group
    .command('show <ref>')
    .description('show one policy: id, or id@version; without a version the latest')
    .action(async (ref: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { raw } = await session.client.get(refPath('policies', ref), PolicyReply);
      session.answer(raw, () => `${JSON.stringify(raw, null, 2)}\n`);
    });
}

function addList(group: Command, terminal: Terminal): void {
  listOptions(group.command('list'))
    .description('list registered policies')
    .option('--id <id>', 'only the versions of this id')
    .action(async (_options, command: Command) => {
      const { id, ...options } = optionsOf<ListQuery & { id?: string }>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/policies', PolicyReply, options, { id });
      const heads = ['id', 'version', 'standing', 'registered', 'by', 'description'].map((title) => ({ title }));
      const rows = listing.items.map((item) => [
        item.id,
        item.version,
        item.latest ? 'latest' : '',
        item.createdAt?.slice(0, 19) ?? '',
        item.registeredBy ?? '',
        item.description ?? '',
      ]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no policies yet\n',
      );
    });
}
