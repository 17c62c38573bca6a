import type { Command } from 'commander';
import type { Call } from './http.client.js';
import { listOptions, optionsOf } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { outcomeOf } from './report.js';
import { Session, type Terminal } from './session.js';
import { table } from './text.js';
import { RunReply } from './wire.js';

/** Options of commands that list runs. */
export interface RunListOptions extends ListQuery {
  state?: string;
  outcome?: string;
  class?: string;
}

export const runListOptions = (command: Command): Command =>
  listOptions(command)
    .option('--state <state>', 'only queued, waiting, running or settled ones')
    .option('--outcome <outcome>', 'only passed, failed, errored or cancelled ones')
    .option('--class <class>', 'only those errored as infra, config, harness or agent');

export const runFilter = ({ state, outcome, class: errorClass }: RunListOptions): NonNullable<Call['query']> => ({
  state,
  outcome,
  class: errorClass,
});

export function addRunList(group: Command, terminal: Terminal): void {
  runListOptions(group.command('list'))
    .description('single runs, newest first; those of a scorecard: scorecard cases <id>')
    .action(async (_options, command: Command) => {
      const options = optionsOf<RunListOptions>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, '/runs', RunReply, options, runFilter(options));
      const heads = [
        { title: 'id' },
        { title: 'outcome', max: 42 },
        { title: 'case', max: 40 },
        { title: 'what' },
        { title: 'created' },
      ];
      const rows = listing.items.map((run) => {
        const { id, caseId, harness, runtime, createdAt } = run;
        return [id, outcomeOf(run), caseId, `${harness} on ${runtime}`, createdAt.slice(0, 19)];
      });
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'no such run\n',
      );
    });
}
