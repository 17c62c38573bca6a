import { caseOf, outcomeOf, reasonOf } from './report.js';
import { plain, plainLines, table } from './text.js';
import { waitedFor } from './waiting-text.js';
import type { AttemptReply, RunReply } from './wire.js';

/** A run, for people. */
export function runText(run: RunReply, columns: number): string {
  const facts: [string, string][] = [
    ['case', caseOf(run)],
    ['harness', run.harness],
    ['runtime', run.runtime],
    ['outcome', outcomeOf(run)],
    ['attempts', String(run.attempts)],
  ];
  if (run.carriedFrom) facts.push(['carried', `from ${run.carriedFrom}, which has its attempts and logs`]);
  if (run.placement) facts.push(['waits', `for ${waitedFor('placement')}: ${run.placement}`]);
  if (run.durationMs !== null) facts.push(['command', `${(run.durationMs / 1_000).toFixed(2)} s`]);
  if (run.decidedBy !== null) facts.push(['decided', `by ${run.decidedBy}, at ${run.settledAt ?? ''}`]);
  if ((run.outcome !== 'passed' || run.decidedBy !== null) && reasonOf(run)) facts.push(['reason', reasonOf(run)]);
  const head = facts.map(([name, value]) => `${name.padEnd(9)} ${plain(value)}\n`).join('');
  if (!run.scores?.length) return head;
  const heads = ['grader', 'kind', 'passed', 'detail'].map((title) => ({ title }));
  const rows = run.scores.map(({ grader, kind, passed, detail }) => [grader, kind, passed ? 'yes' : 'no', detail]);
  return `${head}\n${table(heads, rows, columns)}`;
}

/** One of its attempts. */
export function attemptText(attempt: AttemptReply): string {
  const { answer, answerCut, provenance, placedAs, waiting } = attempt;
  const head = [
    `attempt ${attempt.attempt}`,
    attempt.state,
    attempt.end ?? '',
    attempt.exitCode === null ? '' : `exit code ${attempt.exitCode}`,
    attempt.commandMs === null ? '' : `${(attempt.commandMs / 1_000).toFixed(2)} s`,
  ];
  const lines = [head.filter(Boolean).join('  '), `  allocation  ${attempt.allocation}`];
  if (placedAs) lines.push(`  placed as   ${placedAs}`);
  if (waiting) lines.push(`  waiting     ${waiting}`);
  for (const [name, value] of Object.entries(provenance)) {
    lines.push(`  ${name.padEnd(10)}  ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  const usage = attempt.usage === null || attempt.usage === undefined ? [] : [JSON.stringify(attempt.usage)];
  lines.push(...usage.map((text) => `  usage       ${text}`));
  const text = lines.map((line) => `  ${plain(line)}`.slice(2)).join('\n');
  if (answer === null) return `${text}\n`;
  return `${text}\n  answer${answerCut ? ' (cut)' : ''}:\n${plainLines(answer).replace(/^/gm, '    ').trimEnd()}\n`;
}
