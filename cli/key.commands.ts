import { type Command, InvalidArgumentError, Option } from 'commander';
import { Role, Scope } from '../contracts/identity.js';
import { jsonBody } from './http.client.js';
import { listOptions, optionsOf, requireOptions, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { plain, table } from './text.js';
import { KeyReply, NewKeyReply, RevokedKeyReply } from './wire.js';

const DAY_MS = 86_400_000;

interface CreateOptions {
  role: Role;
  scope?: Scope;
  expires?: string | number;
}

/** `key …`: what programs, and people without an identity provider, come with. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const group = program.command('key').alias('keys').description('API keys of the workspace (create, list, revoke)');
  addCreate(group, terminal);
  addList(group, terminal);
  addRevoke(group, terminal);
}

function addCreate(group: Command, terminal: Terminal): void {
  const role = new Option('--role <role>', 'what it is in the workspace').choices(Role.options);
  const command = requireOptions(group.command('create <name>'), [role])
    .addOption(new Option('--scope <scope>', 'what of the role it reaches (default: all)').choices(Scope.options))
    .option('--expires <when>', 'in so many days, as 30d, or at a time, as 2027-01-31T00:00:00Z', daysOrTime)
    .description('make a key; its value is printed this once, alone on stdout')
    .action(async (name: string, _options, self: Command) => {
      const { role: chosen, scope, expires, ...options } = optionsOf<CreateOptions>(self);
      const session = new Session(terminal, options);
      const expiresAt = typeof expires === 'number' ? new Date(terminal.now() + expires).toISOString() : expires;
      const body = jsonBody({ name, role: chosen, scope, expiresAt });
      const { reply, raw } = await session.client.post('/keys', NewKeyReply, { body });
      session.answer(raw, () => `${plain(reply.value)}\n`);
      session.note(
        `key ${reply.id}: ${plain(nameOf(reply))}. It is not shown again; \`key revoke ${reply.id}\` ends it`,
      );
    });
  withExamples(command, [
    'key create nightly --role ci --expires 90d',
    'key create dashboard --role viewer --scope read',
  ]);
}

/** `30d` as ms, and a time as it is. */
function daysOrTime(text: string): string | number {
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days !== undefined && Number(days) > 0) return Number(days) * DAY_MS;
  if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new InvalidArgumentError('write it as 30d or as 2027-01-31T00:00:00Z.');
}

const nameOf = ({ name, role, scope }: KeyReply): string => `${name} (${role}, ${scope})`;

function addList(group: Command, terminal: Terminal): void {
  listOptions(group.command('list'))
    .description('list keys: who made them, what they may, when they were used; never values')
    .action(async (_options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/keys', KeyReply, options);
      const heads = ['id', 'name', 'role', 'scope', 'made by', 'last used', 'state'].map((title) => ({ title }));
      const rows = listing.items.map((key) => [
        ...[key.id, key.name, key.role, key.scope, key.createdBy, key.lastUsedAt ?? 'never'],
        stateOf(key, terminal.now()),
      ]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no keys yet\n',
      );
    });
}

function stateOf({ revokedAt, expiresAt }: KeyReply, now: number): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt === null) return 'valid';
  return `${Date.parse(expiresAt) <= now ? 'expired' : 'until'} ${expiresAt}`;
}

function addRevoke(group: Command, terminal: Terminal): void {
  group
    .command('revoke <id>')
    .option('--force', 'also where no admin is left then')
    .description('end a key, from now on and for good')
    .action(async (id: string, _options, command: Command) => {
      const { force, ...options } = optionsOf<{ force?: true }>(command);
      const session = new Session(terminal, options);
      const query = { force: force ? 'true' : undefined };
      const path = `/keys/${encodeURIComponent(id)}`;
      const { reply, raw } = await session.client.delete(path, RevokedKeyReply, { query });
      session.answer(raw, () => `key ${reply.id} is revoked: ${plain(nameOf(reply))}\n`);
      if (reply.stillValid.length > 0) session.note(`note: keys made with it go on: ${reply.stillValid.join(', ')}`);
    });
}
