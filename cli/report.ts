import type { TrialReport } from '../contracts/comparison.js';
import { rerollTable } from './reroll-text.js';
import { clock, cut, plain, table } from './text.js';
import { trialsText } from './trials-text.js';
import type { RunReply, ScorecardReply } from './wire.js';

/** Not passed cases that a report lists. */
export const SHOWN_CASES = 20;

const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);

type Rate = ScorecardReply['rates']['final'];

function rateRow(title: string, { passed, n, rate, low, high }: Rate): string[] {
  const interval = low === null || high === null ? '–' : `${percent(low)} to ${percent(high)}`;
  return [title, String(passed), String(n), percent(rate), interval];
}

/** The pass rate three ways, and what is in none of them. */
export function rateTable({ rates, counts }: Pick<ScorecardReply, 'rates' | 'counts'>, columns: number): string {
  const { settled, submitted, decided } = counts;
  const isProvisional = settled < submitted;
  const heads = [
    { title: isProvisional ? 'pass rate so far' : 'pass rate' },
    { title: 'passed', align: 'right' },
    { title: 'n', align: 'right' },
    { title: 'rate', align: 'right' },
    { title: '95 % interval', align: 'right' },
  ] as const;
  const rows = [
    rateRow('first attempt', rates.firstAttempt),
    rateRow('final', rates.final),
    rateRow('infra excluded', rates.infraExcluded),
  ];
  const notes = [
    isProvisional ? `provisional: ${submitted - settled} of ${submitted} runs have no outcome yet\n` : '',
    decided > 0 ? `in no rate: ${decided} ${decided === 1 ? 'run' : 'runs'} decided by an operator\n` : '',
  ];
  return table(heads, rows, columns) + notes.join('');
}

export const headline = ({ dataset, harness, runtime }: ScorecardReply): string =>
  plain(`${dataset} × ${harness}${runtime ? ` on ${runtime}` : ''}`);

function countLine({ counts }: ScorecardReply): string {
  const { passed, failed, errored, infraErrors, cancelled } = counts;
  const infra = infraErrors > 0 ? ` (${infraErrors} infra)` : '';
  return `${passed} passed, ${failed} failed, ${errored} errored${infra}, ${cancelled} cancelled`;
}

/** That it ended before all its cases did, and why. */
export const endedEarly = ({ stoppedEarly }: Pick<ScorecardReply, 'stoppedEarly'>): string =>
  stoppedEarly
    ? `ended early, verdict ${stoppedEarly.verdict}: ${plain(stoppedEarly.reason)}; what had not ended then was cancelled\n`
    : '';

/** How a run ended: the outcome, for an error who is to blame and the code, and whether an operator decided it; or what it waits for. */
export function outcomeOf({ state, outcome, errorClass, errorCode, decidedBy, waiting }: RunReply): string {
  const who = decidedBy === null ? '' : ' (operator)';
  if (outcome === null && waiting) return `${state}: ${[waiting.reason, waiting.note].filter(Boolean).join(', ')}`;
  if (outcome !== 'errored') return `${outcome ?? state}${who}`;
  return `errored ${[errorClass, errorCode].filter(Boolean).join('/')}${who}`;
}

/** Number of a run in its scorecard: `sc_….12` is 12. */
const ordinalOf = ({ id }: RunReply): string => id.slice(id.lastIndexOf('.') + 1);

/** The case, with the trial where it has several: `case#2`. */
export const caseOf = ({ caseId, trial }: Pick<RunReply, 'caseId' | 'trial'>, hasTrials = trial > 1): string =>
  hasTrials ? `${caseId}#${trial}` : caseId;

/** A sentence why the run did not pass. */
export function reasonOf({ reason, scores, errorCode }: RunReply): string {
  const wrong = scores?.filter(({ passed }) => !passed).map(({ grader, detail }) => `${grader}: ${detail}`);
  return reason ?? (wrong?.length ? wrong.join('; ') : (errorCode ?? ''));
}

const isLater = ({ trial }: RunReply): boolean => trial > 1;

/** Runs, one a line. Numbers stand for ids: the ids of one scorecard differ in nothing else. */
export function runTable(runs: readonly RunReply[], columns: number, hasTrials = runs.some(isLater)): string {
  const heads = [
    { title: 'run', align: 'right' },
    { title: 'case', max: 40 },
    { title: 'outcome', max: 42 },
    { title: 'reason' },
  ] as const;
  const rows = runs.map((run) => [ordinalOf(run), caseOf(run, hasTrials), outcomeOf(run), reasonOf(run)]);
  return table(heads, rows, columns);
}

export interface ReportInput {
  scorecard: ScorecardReply;
  /** Runs that did not pass; at most `SHOWN_CASES` are listed. */
  notPassed: readonly RunReply[];
  /** Where cases have several trials. */
  trials?: TrialReport;
  url: string;
  columns: number;
}

/** The result of a finished scorecard, for people. */
export function report({ scorecard, notPassed, trials, url, columns }: ReportInput): string {
  const { id, status, counts, createdAt, finishedAt } = scorecard;
  const took = finishedAt ? ` in ${clock(Date.parse(finishedAt) - Date.parse(createdAt))}` : '';
  const lines = [
    `\n${headline(scorecard)}: ${status}${took}\n${endedEarly(scorecard)}${countLine(scorecard)}\n`,
    rateTable(scorecard, columns) + rerollTable(scorecard, columns),
  ];
  if (trials) lines.push(trialsText(trials, SHOWN_CASES, columns));

  const missing = counts.submitted - counts.passed;
  const shown = notPassed.slice(0, SHOWN_CASES);
  if (shown.length > 0) lines.push(`not passed (${missing}):\n${runTable(shown, columns, scorecard.trials > 1)}`);
  if (missing > shown.length && shown.length > 0) {
    lines.push(`… and ${missing - shown.length} more: npx everdict scorecard cases ${id} --not-passed\n`);
  }
  lines.push(links(id, shown[0], url));
  return lines.join('\n');
}

function links(id: string, example: RunReply | undefined, url: string): string {
  const steps = [[`npx everdict scorecard cases ${id}`, 'every case and its outcome']];
  if (example) {
    steps.push([
      `npx everdict run show ${example.id}`,
      `one run: scorecard, dot, number (${cut(plain(example.caseId), 30)})`,
    ]);
    steps.push([`npx everdict run logs ${example.id}`, 'what it printed']);
  }
  steps.push([`${url}/docs`, 'the HTTP API']);
  const width = Math.max(...steps.map(([step]) => step?.length ?? 0));
  return `look closer:\n${steps.map(([step, why]) => `  ${(step ?? '').padEnd(width)}  ${why}\n`).join('')}`;
}
