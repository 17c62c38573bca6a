import type { ScorecardReportData } from './data.js';
import { nextCommands, titleOf } from './sections.js';

/** The report for programs. What is not known is null. */
export function jsonReport(data: ScorecardReportData): string {
  const { scorecard, runs, comparison = null, gate = null, trials = null, remark = null, links } = data;
  const verdict = gate?.effective ?? null;
  const next = nextCommands(data);
  const document = { title: titleOf(data), verdict, gate, scorecard, comparison, trials, remark, runs, next, links };
  return `${JSON.stringify(document, null, 2)}\n`;
}
