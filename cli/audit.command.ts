import type { Command } from 'commander';
import { listOptions, optionsOf, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { table } from './text.js';
import { AuditReply } from './wire.js';

interface AuditOptions extends ListQuery {
  subject?: string;
  action?: string;
  object?: string;
  since?: string;
  until?: string;
}

/** `audit`: who did what. */
export function addAudit(program: Command, terminal: Terminal): void {
  const command = listOptions(program.command('audit'))
    .description('who did what in the workspace, newest first, also what was refused (admins)')
    .option('--subject <subject>', 'only what this subject did')
    .option('--action <action>', 'only this action, as runtimes.register, or all of a resource: runtimes')
    .option('--object <object>', 'only what was done to this, as gpu@1.0.0, or to all versions of gpu')
    .option('--since <time>', 'only at or after this time, as 2026-01-31T12:00:00Z')
    .option('--until <time>', 'only before this time')
    .action(async (_options, command: Command) => {
      const options = optionsOf<AuditOptions>(command);
      const { subject, action, object, since, until } = options;
      const session = new Session(terminal, options);
      const listing = await list(session, '/audit', AuditReply, options, { subject, action, object, since, until });
      session.answer({ items: listing.raw, next: listing.next }, () =>
        listing.items.length > 0 ? trailText(listing.items, session.columns) + moreOf(listing) : 'no such row\n',
      );
    });
  withExamples(command, ['audit --action secrets', 'audit --object gpu --since 2026-01-31T00:00:00Z']);
}

function trailText(events: readonly AuditReply[], columns: number): string {
  const heads = [
    { title: 'at' },
    { title: 'who', max: 40 },
    { title: 'role' },
    { title: 'action' },
    { title: 'object', max: 60 },
    { title: 'result' },
    { title: 'from' },
    { title: 'request' },
  ];
  const rows = events.map(({ at, subject, keyId, role, action, object, status, code, source, requestId }) => [
    at.slice(0, 19),
    keyId === null ? (subject ?? '–') : `${subject ?? '–'} (${keyId})`,
    role ?? '–',
    action,
    object ?? '–',
    code === null ? String(status) : `${status} ${code}`,
    source,
    requestId,
  ]);
  return table(heads, rows, columns);
}
