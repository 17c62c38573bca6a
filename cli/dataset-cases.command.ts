import type { Command } from 'commander';
import { z } from 'zod';
import { listOptions, optionsOf, withExamples } from './options.js';
import { type ListQuery, list, moreOf } from './pages.js';
import { Session, type Terminal } from './session.js';
import { refPath } from './spec-files.js';
import { table } from './text.js';

const Case = z.looseObject({
  id: z.string(),
  task: z.string(),
  tags: z.array(z.string()).default([]),
  graders: z.array(z.looseObject({ kind: z.string() })).default([]),
});

/** `dataset cases`: what is in a dataset. */
export function addDatasetCases(group: Command, terminal: Terminal): void {
  withExamples(listOptions(group.command('cases <ref>')), ['dataset cases tasks', 'dataset cases tasks@1.0.0 --json'])
    .description('the cases of a dataset, in their order: id, or id@version; without a version the latest')
    .action(async (ref: string, _options, command: Command) => {
      const options = optionsOf<ListQuery>(command);
      const session = new Session(terminal, options);
      const listing = await list(session, `${refPath('datasets', ref)}/cases`, Case, options);
      const heads = [
        { title: 'case', max: 40 },
        { title: 'tags', max: 24 },
        { title: 'graders', max: 24 },
        { title: 'task' },
      ];
      const rows = listing.items.map(({ id, tags, graders, task }) => [
        id,
        tags.join(' '),
        graders.map(({ kind }) => kind).join(' ') || 'exit-code',
        task,
      ]);
      session.answer({ items: listing.raw, next: listing.next }, () =>
        rows.length > 0 ? table(heads, rows, session.columns) + moreOf(listing) : 'it has no cases\n',
      );
    });
}
