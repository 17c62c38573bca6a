import { type Block, bounded, quoted, type Section, type Text } from './blocks.js';
import {
  comparisonSection,
  graderSection,
  regressionSection,
  trialSection,
  usageSection,
} from './comparison-sections.js';
import type { ScorecardReportData } from './data.js';
import { counted, lasting } from './numbers.js';
import { rateSection, rerollSection } from './rate-sections.js';
import { caseName, notPassed, outcomeText, reasonOf } from './run-text.js';
import { outcomeTitle, verdictSection, verdictTitle } from './verdict-sections.js';

/** The line above everything: what it comes to. */
export function titleOf({ scorecard, gate, remark }: ScorecardReportData): string {
  if (gate) return `Everdict: ${verdictTitle(gate)}`;
  return `Everdict: ${remark === undefined ? '' : 'cannot tell, '}${outcomeTitle(scorecard)}`;
}

/** What was run, with what, where, and for how long. */
export function introOf({ scorecard }: ScorecardReportData): Text {
  const { id, dataset, harness, runtime, createdAt, finishedAt, stoppedEarly } = scorecard;
  const where: Text = runtime === null ? [] : [' on ', quoted(runtime)];
  const took = finishedAt === null ? '' : ` in ${lasting(Date.parse(finishedAt) - Date.parse(createdAt))}`;
  const early = stoppedEarly ? ` Stopped early: ${stoppedEarly.reason}` : '';
  return [quoted(dataset), ' with ', quoted(harness), ...where, ': scorecard ', quoted(id), `${took}.${early}`];
}

/** Everything to tell, the most important first; lists are cut to `most` entries. */
export function sectionsOf(data: ScorecardReportData, most: number): Section[] {
  const { scorecard, comparison, gate, trials, remark } = data;
  const sections = [
    gate ? verdictSection(gate, most) : remarkSection(remark),
    comparison && regressionSection(comparison, most),
    rateSection(scorecard, comparison?.baseline.rates),
    scorecard.rerolls.length > 0 ? rerollSection(scorecard) : undefined,
    comparison && comparisonSection(comparison, most),
    comparison && usageSection(comparison),
    comparison && comparison.graders.length > 0 ? graderSection(comparison, most) : undefined,
    trials && trials.trials > 1 ? trialSection(trials, most) : undefined,
    notPassedSection(data, most),
    metadataSection(data, most),
    nextSection(data),
  ];
  return sections.filter((section) => section !== undefined);
}

const remarkSection = (remark: string | undefined): Section | undefined =>
  remark === undefined ? undefined : { title: 'No verdict', blocks: [{ kind: 'text', text: [remark] }] };

function notPassedSection({ scorecard, runs }: ScorecardReportData, most: number): Section | undefined {
  const { counts, trials } = scorecard;
  const listed = notPassed(runs);
  const total = counts.failed + counts.errored + counts.cancelled;
  if (Math.max(total, listed.length) === 0) return undefined;
  const { shown, more } = bounded(listed, most, total);
  const heads = [{ title: 'run' }, { title: 'case' }, { title: 'outcome' }, { title: 'why' }];
  const rows = shown.map((run): Text[] => {
    const reason = reasonOf(run);
    const who = run.decidedBy === null ? '' : ' (operator)';
    return [
      [quoted(run.id.slice(run.id.lastIndexOf('.') + 1))],
      [quoted(caseName(run, trials))],
      [outcomeText(run) + who],
      reason === '' ? [] : [quoted(reason)],
    ];
  });
  const table: Block = { kind: 'table', heads, rows, more };
  return { title: `Not passed (${Math.max(total, listed.length)})`, blocks: [table] };
}

function metadataSection({ scorecard }: ScorecardReportData, most: number): Section | undefined {
  const { shown, more } = bounded(Object.entries(scorecard.metadata), most);
  if (shown.length === 0) return undefined;
  const items = shown.map(([name, value]): Text => [quoted(name), ': ', quoted(value)]);
  return { title: 'Where it comes from', blocks: [{ kind: 'list', items, more }] };
}

/** Commands to go on with. */
export function nextCommands({ scorecard, runs, gate }: ScorecardReportData): { command: string; why: string }[] {
  const { id, counts } = scorecard;
  const commands = [];
  if (counts.infraErrors > 0) {
    const why = `run ${counted(counts.infraErrors, 'run')} again that infrastructure errored`;
    commands.push({ command: `npx everdict scorecard retry ${id} --class infra`, why });
  }
  const [first] = notPassed(runs);
  if (first) commands.push({ command: `npx everdict run logs ${first.id}`, why: 'what the first of them printed' });
  commands.push({ command: `npx everdict scorecard cases ${id}`, why: 'every case and its outcome' });
  if (gate && gate.effective !== 'pass') {
    const why = 'let it pass all the same, with your name to it';
    commands.push({ command: `npx everdict gate override ${gate.id} --verdict pass --reason …`, why });
  }
  return commands;
}

function nextSection(data: ScorecardReportData): Section {
  const blocks: Block[] = [{ kind: 'commands', commands: nextCommands(data) }];
  if (data.links.length > 0) blocks.push({ kind: 'links', links: data.links });
  return { title: 'Look closer', blocks };
}
