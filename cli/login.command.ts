import type { Command } from 'commander';
import { isLoopback } from '../config/loopback.js';
import { CliError, usageError } from './failures.js';
import { optionsOf } from './options.js';
import { type GlobalOptions, Session, type Terminal, urlOf } from './session.js';
import { plain } from './text.js';
import { WhoAmIReply } from './wire.js';

/** `login`, `logout` and `whoami`: a key for each platform, kept where only its user reads it. */
export function addLogin(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .description('keep an API key for a platform: it is asked for, or read from stdin, and tried before it is kept')
    .addHelpText('after', '\nExamples:\n  npx everdict login --url https://everdict.example < key')
    .action((_options, command: Command) => logIn(terminal, optionsOf(command)));
  program
    .command('logout')
    .description('forget the key of a platform; `key revoke` makes it worthless')
    .action((_options, command: Command) => logOut(terminal, optionsOf(command)));
  program
    .command('whoami')
    .description('who the platform takes you for, and what you are there')
    .action(async (_options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get('/whoami', WhoAmIReply);
      session.answer(raw, () => describe(reply, session.client.url));
    });
}

async function logIn(terminal: Terminal, options: GlobalOptions): Promise<void> {
  const url = urlOf(terminal, options.url);
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    terminal.err.write(`note: ${url} is not https: whoever is on the way can read the key\n`);
  }
  const typed = await terminal.readSecret(`API key for ${url}, which does not show: `);
  const key = new TextDecoder().decode(typed).trim();
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw usageError('no key was given', 'pipe it in, or type it when it is asked for');
  }
  const session = new Session(terminal, options, key);
  const { reply, raw } = await session.client.get('/whoami', WhoAmIReply);
  if (reply.mode === 'dev') {
    session.answer(raw, () => `the platform at ${url} asks nobody for a key: there is nothing to keep\n`);
    return;
  }
  const { workspace } = options;
  const file = terminal.logins.keep(url, { key, ...(workspace !== undefined && { workspace }) });
  session.answer(raw, () => `logged in: ${describe(reply, url)}the key is kept in ${file}\n`);
}

async function logOut(terminal: Terminal, options: GlobalOptions): Promise<void> {
  const url = urlOf(terminal, options.url);
  const isForgotten = terminal.logins.forget(url);
  new Session(terminal, options).answer({ url, isForgotten }, () =>
    isForgotten ? `the key for ${url} is forgotten\n` : `no key is kept for ${url}\n`,
  );
}

function describe({ subject, workspace, role, scope, workspaces, mode, expiresAt }: WhoAmIReply, url: string): string {
  const where = workspace === null ? '' : `, ${role} in workspace ${workspace}`;
  const lines = [`${subject} at ${url}${where}${scope === 'admin' ? '' : `, as far as ${scope} reaches`}`];
  if (mode === 'dev') lines.push('  development mode: authentication is off');
  if (expiresAt !== null) lines.push(`  until ${expiresAt}`);
  const others = workspaces.filter(({ id }) => id !== workspace);
  if (others.length > 0) lines.push(`  also: ${others.map((other) => `${other.id} (${other.role})`).join(', ')}`);
  if (workspace === null && workspaces.length === 0) lines.push('  in no workspace yet: an admin of one adds you');
  return lines.map((line) => `${plain(line)}\n`).join('');
}

/** Keeps the workspace that later commands act in. */
export async function useWorkspace(terminal: Terminal, options: GlobalOptions, workspace: string): Promise<void> {
  const url = urlOf(terminal, options.url);
  const login = terminal.logins.find(url);
  if (!login) throw new CliError(3, `no key is kept for ${url}`, 'log in first, or set EVERDICT_WORKSPACE');
  const session = new Session(terminal, { ...options, workspace });
  const { raw } = await session.client.get('/whoami', WhoAmIReply);
  terminal.logins.keep(url, { ...login, workspace });
  session.answer(raw, () => `commands act in workspace ${plain(workspace)} at ${url}\n`);
}
