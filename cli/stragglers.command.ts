import type { Command } from 'commander';
import { optionsOf, wholeNumber } from './options.js';
import { caseOf } from './report.js';
import { pathOf } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { clock, table } from './text.js';
import { StragglersReply } from './wire.js';

/** `scorecard stragglers`: what a scorecard waits for. */
export function addStragglers(group: Command, terminal: Terminal): void {
  group
    .command('stragglers <id>')
    .description('the runs that still run or wait: for how long, and how they compare with the finished ones')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 500), 20)
    .action(async (id: string, _options, command: Command) => {
      const { limit, ...options } = optionsOf<{ limit: number }>(command);
      const session = new Session(terminal, options);
      const { reply, raw } = await session.client.get(pathOf(id, '/stragglers'), StragglersReply, { query: { limit } });
      session.answer(raw, () => stragglersText(reply, id, session.columns));
    });
}

function stragglersText({ items, medianMs, queued }: StragglersReply, id: string, columns: number): string {
  if (items.length === 0)
    return queued > 0 ? `nothing runs or waits yet; ${queued} are queued\n` : 'nothing runs or waits\n';
  const heads = [
    { title: 'run', align: 'right' },
    { title: 'case', max: 40 },
    { title: 'phase' },
    { title: 'attempt', align: 'right' },
    { title: 'for', align: 'right' },
    { title: 'left', align: 'right' },
    { title: 'median', align: 'right' },
  ] as const;
  const rows = items.map((item) => [
    String(item.run),
    caseOf(item),
    item.phase,
    String(item.attempt),
    clock(item.ageMs),
    item.leftMs === null ? '–' : clock(item.leftMs),
    item.timesMedian === null ? '–' : `${item.timesMedian} ×`,
  ]);
  const notes = [];
  if (medianMs !== null) notes.push(`finished ones took ${(medianMs / 1_000).toFixed(1)} s (median)`);
  if (queued > 0) notes.push(`${queued} more do not wait for a slot yet`);
  const note = notes.length > 0 ? `${notes.join('; ')}\n` : '';
  return `${table(heads, rows, columns)}${note}\nnpx everdict run logs -f ${id}.<run>   what one of them prints\n`;
}
