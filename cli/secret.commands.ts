import { type Command, Option } from 'commander';
import { SecretUse, type SecretView } from '../contracts/secret.js';
import { EXIT } from './exit-codes.js';
import { usageError } from './failures.js';
import { jsonBody } from './http.client.js';
import { collect, listOptions, optionsOf, requireOptions, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { plain, table } from './text.js';
import { RotationReply, SecretReply, SecretStoredReply } from './wire.js';

interface SetOptions {
  use: SecretUse;
  origin?: string[];
  host?: string[];
}

/** `secret …`: values that jobs, or what starts them, must not be told by a spec. */
export function addSecretCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('secret')
    .alias('secrets')
    .description('credentials and keys, by name (set, list, delete, rotate-key)');
  addSet(group, terminal);
  addList(group, terminal);
  addDelete(group, terminal);
  addRotateKey(group, terminal);
}

function addSet(group: Command, terminal: Terminal): void {
  const use = new Option('--use <use>', 'what it is for').choices(SecretUse.options);
  const command = requireOptions(group.command('set <name>'), [use])
    .option('--origin <origin>', 'of a cluster secret: where it may be sent to; can be repeated', collect)
    .option('--host <host>', 'of a registry or git secret: the host it is for; can be repeated', collect)
    .description('set a secret; its value is read from stdin, or asked for')
    .action(async (name: string, _options, self: Command) => {
      const { use: chosen, origin, host, ...options } = optionsOf<SetOptions>(self);
      const session = new Session(terminal, options);
      const value = textOf(await terminal.readSecret(`value of ${plain(name)}, which does not show: `), session);
      const body = jsonBody({ use: chosen, value, origins: origin, hosts: host });
      const path = `/secrets/${encodeURIComponent(name)}`;
      const { reply, raw } = await session.client.put(path, SecretStoredReply, { body });
      for (const warning of reply.warnings) session.note(`note: ${plain(warning)}`);
      const bound = boundTo(reply);
      session.answer(raw, () => `secret ${plain(reply.name)} is set${bound && ` (for ${plain(bound)})`}\n`);
    });
  withExamples(command, [
    'secret set nomad-token --use cluster --origin https://nomad.example:4646 < token',
    'secret set MODEL_KEY --use env',
  ]);
}

/** A file ends with a line break that is no part of the value. */
function textOf(bytes: Uint8Array, session: Session): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usageError('the value is not text in UTF-8', 'encode it, as by `base64`, and let the job decode it');
  }
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw usageError('the value is empty', 'pipe it in, or type it when it is asked for');
  if (value !== text) session.note('note: the line break at the end is not part of the value');
  return value;
}

const boundTo = ({ origins, hosts }: Pick<SecretView, 'origins' | 'hosts'>): string =>
  (origins ?? hosts ?? []).join(', ');

function addList(group: Command, terminal: Terminal): void {
  listOptions(group.command('list'))
    .description('list secrets: names and what they are for, never values')
    .action(async (_options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/secrets', SecretReply, options);
      const heads = ['name', 'use', 'for', 'set', 'by'].map((title) => ({ title }));
      const rows = listing.items.map((item) => [item.name, item.use, boundTo(item), item.updatedAt, item.updatedBy]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no secrets yet\n',
      );
    });
}

function addDelete(group: Command, terminal: Terminal): void {
  group
    .command('delete <name>')
    .option('--force', 'also while runtimes or harnesses name it')
    .description('delete a secret')
    .action(async (name: string, _options, command: Command) => {
      const { force, ...options } = optionsOf<{ force?: boolean }>(command);
      const session = new Session(terminal, options);
      const query = { force: force ? 'true' : undefined };
      await session.client.remove(`/secrets/${encodeURIComponent(name)}`, { query });
      session.answer({ name, deleted: true }, () => `secret ${plain(name)} is deleted\n`);
    });
}

function addRotateKey(group: Command, terminal: Terminal): void {
  group
    .command('rotate-key')
    .description('seal every secret with the first key of EVERDICT_SECRETS_KEY; for the operator')
    .action(async (_options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.post('/secrets/rotate-key', RotationReply);
      for (const { workspace, name, reason } of reply.unreadable) {
        session.note(`note: the secret ${plain(name)} of workspace ${plain(workspace)} ${plain(reason)}`);
      }
      if (reply.unreadable.length > 0) terminal.setExitCode(EXIT.unclear);
      session.answer(raw, () => {
        const rest =
          reply.unneeded.length > 0
            ? `keys that no secret needs any more, and EVERDICT_SECRETS_KEY may drop: ${reply.unneeded.join(', ')}\n`
            : '';
        return `sealed with key ${plain(reply.key)}: ${reply.resealed} secrets that were not before\n${rest}`;
      });
    });
}
