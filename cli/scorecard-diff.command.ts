import { type Command, Option } from 'commander';
import type { Comparison } from '../contracts/comparison.js';
import { comparisonSection, graderSection, regressionSection, usageSection } from '../reports/comparison-sections.js';
import { optionsOf, wholeNumber, withExamples } from './options.js';
import { sectionText } from './section-text.js';
import { Session, type Terminal } from './session.js';
import { plain } from './text.js';
import { ComparisonReply } from './verdict-wire.js';

interface DiffOptions {
  on?: string;
  limit: number;
}

/** Graders that a text lists. */
const MOST_GRADERS = 20;

export function addScorecardDiff(group: Command, terminal: Terminal): void {
  const command = group
    .command('diff <baseline> <candidate>')
    .description(
      'what changed from one finished scorecard, or pinned baseline, to another: its exit code is no verdict',
    )
    .addOption(
      new Option('--on <cases>', 'which cases to compare (default: all, and refuse what differs)').choices([
        'all',
        'intersection',
      ]),
    )
    .option('--limit <n>', 'list at most so many changes', wholeNumber(0, 1_000), 20)
    .action(async (baseline: string, candidate: string, _options, self: Command) => {
      const { on, limit, ...options } = optionsOf<DiffOptions>(self);
      const session = new Session(terminal, options);
      const query = { baseline, candidate, on, limit };
      const { reply, raw } = await session.client.get('/scorecards/diff', ComparisonReply, { query });
      session.answer(raw, () => diffText(reply, limit, session.columns));
    });
  withExamples(command, [
    'scorecard diff main sc_01m8m7z2mcgj6c2k0b0csy3x2x',
    'scorecard diff main sc_01m8m7z2mcgj6c2k0b0csy3x2x --on intersection --json',
  ]);
}

/** Of the graders, those for which something changed. */
function diffText(comparison: Comparison, limit: number, columns: number): string {
  const { baseline, candidate, usage } = comparison;
  const head = plain(`${candidate.id} (${candidate.dataset} × ${candidate.harness}) against ${baseline.id}`);
  const graders = comparison.graders.filter(({ regressed, fixed }) => regressed + fixed > 0);
  const isUsed = Object.values(usage).some((delta) => delta.baselineTotal !== null || delta.candidateTotal !== null);
  const sections = [
    regressionSection(comparison, limit),
    comparisonSection(comparison, limit),
    graders.length > 0
      ? graderSection({ ...comparison, graders, graderCount: graders.length }, MOST_GRADERS)
      : undefined,
    isUsed ? usageSection(comparison) : undefined,
  ];
  const shown = sections.flatMap((section) => (section ? [`\n${sectionText(section, columns)}`] : []));
  const more = comparison.hasMore ? 'more: the same command with a higher --limit\n' : '';
  return `${head}\n${shown.join('')}${more}\nnpx everdict run show ${plain(candidate.id)}.<run>   one run of the candidate\n`;
}
