import { type Command, Option } from 'commander';
import { gateText } from './gate-text.js';
import { jsonBody } from './http.client.js';
import { listOptions, optionsOf, requireOptions, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { table } from './text.js';
import { GateReply, GateSummaryReply } from './verdict-wire.js';

const pathOf = (id: string, more = ''): string => `/gates/${encodeURIComponent(id)}${more}`;

/** `gate …`: verdicts that were given, and what people say against them. */
export function addGateCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('gate')
    .alias('gates')
    .description('verdicts that `scorecard gate` and `ci` gave (show, list, override)');
  group
    .command('show <id>')
    .description('a verdict with its reasons; the exit code says nothing of it')
    .action(async (id: string, _options, command: Command) => {
      const session = new Session(terminal, optionsOf(command));
      const { reply, raw } = await session.client.get(pathOf(id), GateReply);
      session.answer(raw, () => gateText(reply));
    });
  addList(group, terminal);
  addOverride(group, terminal);
}

function addList(group: Command, terminal: Terminal): void {
  listOptions(group.command('list'))
    .description('verdicts, newest first')
    .option('--candidate <id>', 'only those over this scorecard')
    .action(async (_options, command: Command) => {
      const { candidate, ...options } = optionsOf<ListQuery & { candidate?: string }>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/gates', GateSummaryReply, options, { candidate });
      const heads = ['id', 'verdict', 'candidate', 'baseline', 'policy', 'given', 'by'].map((title) => ({ title }));
      const rows = listing.items.map(
        ({ id, effective, override, candidate: judged, baseline, policy, createdAt, by }) => [
          id,
          override ? `${effective} (overridden)` : effective,
          judged,
          baseline ?? '–',
          policy.ref ?? '–',
          createdAt.slice(0, 19),
          by,
        ],
      );
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no verdicts yet\n',
      );
    });
}

function addOverride(group: Command, terminal: Terminal): void {
  const needed = [
    new Option('--verdict <verdict>', 'what counts from now on').choices(['pass', 'block']),
    new Option('--reason <text>', 'why, for everyone who reads the verdict'),
  ];
  const command = requireOptions(group.command('override <id>'), needed)
    .description('say otherwise than a verdict: who and why is kept beside it')
    .action(async (id: string, _options, self: Command) => {
      const { verdict, reason, ...options } = optionsOf<{ verdict: string; reason: string }>(self);
      const session = new Session(terminal, options);
      const body = jsonBody({ verdict, reason });
      const { reply, raw } = await session.client.post(pathOf(id, '/override'), GateReply, { body });
      session.answer(raw, () => `${reply.id} is ${reply.effective} now; the rules say ${reply.verdict}\n`);
    });
  withExamples(command, ['gate override gate_01k5q8zj3v0000000000000000 --verdict pass --reason "the file moved"']);
}
