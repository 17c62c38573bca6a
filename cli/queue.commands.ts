import type { Command } from 'commander';
import { z } from 'zod';
import { listOptions, optionsOf, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { PromotedReply, QueueReply, WhyReply } from './steering-wire.js';
import { clock, plain, table } from './text.js';
import { etaText, useOf, waitedFor } from './waiting-text.js';

/** `queue`, `why`, `promote`: what waits, why, and what is to go first. */
export function addQueueCommands(program: Command, terminal: Terminal): void {
  addQueue(program, terminal);
  addWhy(program, terminal);
  addPromote(program, terminal);
}

const Unread = z.object({ unread: z.array(z.string()).default([]) });

interface QueueOptions extends ListQuery {
  runtime?: string;
  all?: true;
}

function addQueue(program: Command, terminal: Terminal): void {
  const command = listOptions(program.command('queue'))
    .description('what waits for a slot, in the order in which it is considered, and why')
    .option('--runtime <id>', 'only what waits for this runtime')
    .option('--all', 'of all workspaces, for the operator')
    .action(async (_options, self: Command) => {
      const options = optionsOf<QueueOptions>(self);
      const session = new Session(terminal, options);
      const query = { runtime: options.runtime, all: options.all ? 'true' : undefined };
      const listing = await list(session, '/queue', QueueReply, options, query, (page) => {
        for (const runtime of Unread.parse(page).unread) {
          session.note(
            `note: the admission of runtime ${plain(runtime)} does not answer: what waits for it is not shown`,
          );
        }
      });
      session.answer({ items: listing.raw, next: listing.next }, () =>
        listing.items.length > 0
          ? queueTable(listing.items, terminal.now(), options.all === true, session.columns) + moreOf(listing)
          : 'nothing waits for a slot\n',
      );
    });
  withExamples(command, ['queue --runtime desk', 'why sc_….12', 'promote sc_….12']);
}

function queueTable(items: readonly QueueReply[], now: number, isAll: boolean, columns: number): string {
  const heads = [
    { title: '#', align: 'right' },
    ...(isAll ? [{ title: 'workspace' }] : []),
    { title: 'runtime' },
    { title: 'run' },
    { title: 'case', max: 40 },
    { title: 'class' },
    { title: 'for', align: 'right' },
    { title: 'waits for' },
  ] as const;
  const rows = items.map(({ position, workspace, runtime, run, caseId, promotedAt, askedAt, waiting, ...item }) => [
    ...[String(position), ...(isAll ? [workspace] : []), runtime, run, caseId],
    ...[promotedAt === null ? item.class : 'promoted', clock(now - Date.parse(askedAt))],
    `${waiting.reason}: ${useOf(waiting)}`,
  ]);
  return table(heads, rows, columns);
}

function addWhy(program: Command, terminal: Terminal): void {
  program
    .command('why <run>')
    .description('why a run does not start yet, how many are before it, and when it is likely to start')
    .action(async (run: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(`/runs/${encodeURIComponent(run)}/waiting`, WhyReply);
      session.answer(raw, () => whyText(reply));
    });
}

function whyText({ run, state, reason, scope, ahead, limit, used, etaP50, etaP90, until, note }: WhyReply): string {
  if (reason === null) return `${plain(run)} is ${state}: it waits for nothing\n`;
  const before = ahead === null || ahead === 0 ? 'nothing is before it' : `${ahead} before it`;
  const facts = [
    `${useOf({ reason, scope: scope ?? '', limit, used })}; ${before}`,
    until ? `resumed by itself at ${until}` : '',
    note ? `why: ${note}` : '',
    etaText({ etaP50, etaP90 }),
  ];
  const lines = facts.filter(Boolean).map((line) => `  ${plain(line)}\n`);
  return `${plain(run)} is ${state}: it waits for ${waitedFor(reason)}\n${lines.join('')}`;
}

function addPromote(program: Command, terminal: Terminal): void {
  program
    .command('promote <run>')
    .description('let a run that waits start before everything else of its workspace')
    .action(async (run: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const path = `/queue/${encodeURIComponent(run)}/promote`;
      const { reply, raw } = await session.client.post(path, PromotedReply);
      session.answer(raw, () => plain(`${reply.run} goes before the others of its workspace`).concat('\n'));
    });
}
