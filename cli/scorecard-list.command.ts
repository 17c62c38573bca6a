import { type Command, Option } from 'commander';
import { ScorecardStatus } from '../contracts/scorecard.js';
import { collectPair, listOptions, optionsOf, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { headline } from './report.js';
import { Session, type Terminal } from './session.js';
import { table } from './text.js';
import { ScorecardReply } from './wire.js';

interface ListOptions extends ListQuery {
  status?: string;
  dataset?: string;
  harness?: string;
  metadata?: Record<string, string>;
  retryOf?: string;
}

export function addScorecardList(group: Command, terminal: Terminal): void {
  const command = listOptions(group.command('list'))
    .description('scorecards, newest first')
    .addOption(new Option('--status <status>', 'only those in this status').choices(ScorecardStatus.options))
    .option('--dataset <ref>', 'only those of this dataset: an id, or id@version')
    .option('--harness <ref>', 'only those of this harness: an id, or id@version')
    .option('--metadata <key=value>', 'only those with this entry; can be repeated', collectPair)
    .option('--retry-of <id>', 'only those that retry this scorecard')
    .action(async (_options, self: Command) => {
      const { status, dataset, harness, metadata = {}, retryOf, ...options } = optionsOf<ListOptions>(self);
      const session = new Session(terminal, options);
      const pairs = Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
      const filter = { status, dataset, harness, metadata: pairs, retryOf };
      const listing = await list(session, '/scorecards', ScorecardReply, options, filter);
      const heads = ['id', 'status', 'passed', 'what', 'created'].map((title) => ({ title }));
      const rows = listing.items.map((scorecard) => {
        const { id, status: standing, counts, createdAt } = scorecard;
        return [id, standing, `${counts.passed}/${counts.submitted}`, headline(scorecard), createdAt.slice(0, 19)];
      });
      const isNarrowed = pairs.length > 0 || [status, dataset, harness, retryOf].some((given) => given !== undefined);
      const none = isNarrowed ? 'no such scorecard\n' : 'no scorecards yet\n';
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : none,
      );
    });
  withExamples(command, ['scorecard list --status completed --dataset shell-tasks --metadata branch=main --limit 1']);
}
