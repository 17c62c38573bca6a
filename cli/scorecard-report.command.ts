import { type Command, Option } from 'commander';
import { findBaseline, kinOf } from './ci/baseline.js';
import { reportDataOf } from './ci/judge.js';
import { type ReportFormat, WRITERS, writeReport } from './ci/outputs.js';
import { optionsOf, withExamples } from './options.js';
import { list } from './pages.js';
import { Session, type Terminal } from './session.js';
import { GateReply, GateSummaryReply } from './verdict-wire.js';
import { readScorecard } from './watch.js';

interface ReportOptions {
  format: ReportFormat;
  baseline?: string;
  baselineBranch?: string;
  intersection?: boolean;
  gate?: string;
  out?: string;
}

/** `scorecard report`: everything about a scorecard as one file. */
export function addScorecardReport(group: Command, terminal: Terminal): void {
  const formats = new Option('--format <format>', 'Markdown, JUnit XML, JSON or HTML').choices(Object.keys(WRITERS));
  const command = group
    .command('report <id>')
    .description('a scorecard as a report: rates, verdict, comparison and every case that did not pass')
    .addOption(formats.default('md'))
    .addOption(
      new Option('--baseline <baseline>', 'compare with this scorecard, or pinned name').conflicts('baselineBranch'),
    )
    .option(
      '--baseline-branch <branch>',
      'compare with the newest completed scorecard that has it as its metadata branch',
    )
    .option('--intersection', 'compare only the cases that are the same on both sides')
    .option('-o, --out <file>', 'write it there, and not to the terminal')
    .action(async (id: string) => {
      const options = optionsOf<ReportOptions>(command);
      await report(new Session(terminal, options), id, options);
    });
  withExamples(command, [
    'scorecard report sc_01k5q8zj3v0000000000000000 --format html -o report.html',
    'scorecard report sc_01k5q8zj3v0000000000000000 --baseline release-2',
  ]);
}

/** A person waits, who can ask again. */
const SHORTLY = { patienceMs: 5_000, signal: new AbortController().signal };

async function report(session: Session, id: string, options: ReportOptions): Promise<void> {
  const { format, out } = options;
  const { reply: scorecard } = await readScorecard(session, id);
  const { dataset, harness, metadata } = scorecard;
  const on = options.intersection ? 'intersection' : undefined;
  const gate = await lastGate(session, id);
  const wanted = await findBaseline(session, SHORTLY, { ...options, dataset, harness, kin: kinOf(metadata) }, id);
  const baseline = wanted ?? gate?.evidence.baseline?.id;
  const runs = format === 'md' ? 'not-passed' : 'all';
  const text = WRITERS[format](await reportDataOf(session, SHORTLY, { scorecard, baseline, on, gate, runs }));
  if (out === undefined) session.terminal.out.write(text);
  else await writeReport(out, text);
}

/** What a gate said of it last, if one was asked. */
async function lastGate(session: Session, candidate: string) {
  const { items } = await list(session, '/gates', GateSummaryReply, { limit: 1 }, { candidate });
  const last = items[0];
  return last && (await session.client.get(`/gates/${encodeURIComponent(last.id)}`, GateReply)).reply;
}
