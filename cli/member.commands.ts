import { Argument, type Command, Option } from 'commander';
import { Role } from '../contracts/identity.js';
import { jsonBody } from './http.client.js';
import { listOptions, optionsOf, requireOptions, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { plain, table } from './text.js';
import { ChangedMemberReply, MemberReply } from './wire.js';

const pathOf = (subject: string): string => `/members/${encodeURIComponent(subject)}`;

/** `member …`: people, and keys of other workspaces. */
export function addMemberCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('member')
    .alias('members')
    .description('who is in the workspace (add, list, role, remove)');
  addAdd(group, terminal);
  addList(group, terminal);
  addRole(group, terminal);
  addRemove(group, terminal);
}

function addAdd(group: Command, terminal: Terminal): void {
  const role = new Option('--role <role>', 'what they are in the workspace').choices(Role.options);
  const command = requireOptions(group.command('add <subject>'), [role])
    .description('add somebody: an e-mail address, oidc:<issuer host>:<sub>, or key:<id> of another workspace')
    .action(async (subject: string, _options, self: Command) => {
      const { role: chosen, ...options } = optionsOf<{ role: Role }>(self);
      const session = new Session(terminal, options);
      const body = jsonBody({ subject, role: chosen });
      const { reply, raw } = await session.client.post('/members', MemberReply, { body });
      session.answer(raw, () => `${plain(reply.subject)} is ${reply.role}\n`);
    });
  withExamples(command, ['member add ada@example.com --role member']);
}

function addList(group: Command, terminal: Terminal): void {
  listOptions(group.command('list'))
    .description('list members; `key list` lists the keys')
    .action(async (_options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/members', MemberReply, options);
      const heads = ['subject', 'role', 'e-mail', 'invited by'].map((title) => ({ title }));
      const rows = listing.items.map(({ subject, role, email, invitedBy }) => [subject, role, email ?? '', invitedBy]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no members yet\n',
      );
    });
}

function addRole(group: Command, terminal: Terminal): void {
  group
    .command('role <subject>')
    .addArgument(new Argument('<role>', 'the new role').choices(Role.options))
    .option('--force', 'also where no admin is left then')
    .description('give a member another role')
    .action(async (subject: string, role: Role, _options, command: Command) => {
      const { force, ...options } = optionsOf<{ force?: true }>(command);
      const session = new Session(terminal, options);
      const call = { body: jsonBody({ role }), query: { force: force ? 'true' : undefined } };
      const { reply, raw } = await session.client.patch(pathOf(subject), ChangedMemberReply, call);
      session.answer(raw, () => `${plain(reply.subject)} is ${reply.role}\n`);
      noteRevoked(session, reply);
    });
}

function addRemove(group: Command, terminal: Terminal): void {
  group
    .command('remove <subject>')
    .option('--force', 'also where no admin is left then')
    .description('remove a member; the keys the member made are revoked')
    .action(async (subject: string, _options, command: Command) => {
      const { force, ...options } = optionsOf<{ force?: true }>(command);
      const session = new Session(terminal, options);
      const query = { force: force ? 'true' : undefined };
      const { reply, raw } = await session.client.delete(pathOf(subject), ChangedMemberReply, { query });
      session.answer(raw, () => `${plain(reply.subject)} is removed\n`);
      noteRevoked(session, reply);
    });
}

function noteRevoked(session: Session, { revokedKeys }: ChangedMemberReply): void {
  if (revokedKeys.length > 0) session.note(`note: revoked with it: ${revokedKeys.map((id) => `key ${id}`).join(', ')}`);
}
