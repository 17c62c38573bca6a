import { type Command, InvalidArgumentError } from 'commander';
import { jsonBody } from './http.client.js';
import { useWorkspace } from './login.command.js';
import { listOptions, optionsOf, wholeNumber, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { WorkspaceLimitsReply } from './steering-wire.js';
import { plain, table } from './text.js';
import { CiBindingReply, WorkspaceReply } from './wire.js';

/** `workspace …` */
export function addWorkspaceCommands(program: Command, terminal: Terminal): void {
  const group = program.command('workspace').alias('workspaces').description('workspaces (create, list, use, limits)');
  group
    .command('create <id>')
    .description('make a workspace; it takes the operator key')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post('/workspaces', WorkspaceReply, { body: jsonBody({ id }) });
      session.answer(raw, () => `workspace ${reply.id} is there\n`);
      session.note(`next: npx everdict key create first-admin --role admin --workspace ${reply.id}`);
    });
  listOptions(group.command('list'))
    .description('list the workspaces you are in')
    .action(async (_options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/workspaces', WorkspaceReply, options);
      const rows = listing.items.map(({ id, role }) => [id, role]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0
          ? table([{ title: 'id' }, { title: 'you are' }], rows, session.columns) + moreOf(listing)
          : 'you are in no workspace yet\n',
      );
    });
  group
    .command('use <id>')
    .description('act in this workspace from now on, with the key that `login` kept')
    .action((id: string, _options, command: Command) => useWorkspace(terminal, optionsOf(command), id));
  addLimits(group, terminal);
}

interface LimitsOptions {
  weight?: number;
  quota?: number | 'none';
}

function weight(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0.01 && value <= 1_000) return value;
  throw new InvalidArgumentError('it is a number, 0.01 to 1000.');
}

const quota = (text: string): number | 'none' => (text === 'none' ? text : wholeNumber(1)(text));

function addLimits(group: Command, terminal: Terminal): void {
  const command = group
    .command('limits <id>')
    .description('weight and quota of a workspace, shown or set; it takes the operator key')
    .option('--weight <n>', 'its share where workspaces contend: 2 is twice as much as 1', weight)
    .option('--quota <n>', 'at most so many of its runs at once, over all runtimes; `none` takes it back', quota)
    .action(async (id: string, _options, self: Command) => {
      const options = optionsOf<LimitsOptions>(self);
      const session = new Session(terminal, options);
      const path = `/workspaces/${encodeURIComponent(id)}`;
      const { weight: share, quota: most } = options;
      const body = jsonBody({ weight: share, maxRunning: most === 'none' ? null : most });
      const isSet = share !== undefined || most !== undefined;
      const { reply, raw } = await (isSet
        ? session.client.patch(path, WorkspaceLimitsReply, { body })
        : session.client.get(path, WorkspaceLimitsReply));
      session.answer(raw, () => limitsText(reply));
    });
  withExamples(command, ['workspace limits research --weight 2 --quota 50', 'workspace limits research --quota none']);
}

const limitsText = ({ id, weight: share, maxRunning, running }: WorkspaceLimitsReply): string =>
  `${plain(id)}: weight ${share}, ${maxRunning === null ? 'no quota' : `quota ${maxRunning}`}, ${running} running\n`;

interface BindOptions {
  ref?: string;
  environment?: string;
}

const textOf = ({ repository, ref, environment }: CiBindingReply): string =>
  [repository, ref && `ref ${ref}`, environment && `environment ${environment}`].filter(Boolean).join(', ');

/** `ci add|list|remove`: GitHub repositories whose workflows need no key. */
export function addCiBindings(group: Command, terminal: Terminal): void {
  group
    .command('add <owner/name>')
    .option('--ref <ref>', 'only runs on this ref, as refs/heads/main')
    .option('--environment <name>', 'only jobs of this environment')
    .description('let the workflows of a repository act as CI of the workspace')
    .action(async (repository: string, _options, command: Command) => {
      const { ref, environment, ...options } = optionsOf<BindOptions>(command);
      const session = new Session(terminal, options);
      const body = jsonBody({ repository, ref, environment });
      const { reply, raw } = await session.client.post('/ci-bindings', CiBindingReply, { body });
      session.answer(raw, () => `${plain(textOf(reply))} is CI here (${reply.id})\n`);
    });
  listOptions(group.command('list'))
    .description('list the repositories that are CI of the workspace')
    .action(async (_options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/ci-bindings', CiBindingReply, options);
      const heads = ['id', 'repository', 'ref', 'environment', 'by'].map((title) => ({ title }));
      const rows = listing.items.map((item) => [
        ...[item.id, item.repository, item.ref ?? 'any', item.environment ?? 'any', item.createdBy],
      ]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no repositories yet\n',
      );
    });
  group
    .command('remove <id>')
    .description('let a repository be CI of the workspace no more')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const path = `/ci-bindings/${encodeURIComponent(id)}`;
      const { reply, raw } = await session.client.delete(path, CiBindingReply);
      session.answer(raw, () => `${plain(textOf(reply))} is CI no more\n`);
    });
}
