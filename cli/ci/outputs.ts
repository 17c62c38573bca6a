import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ScorecardReportData } from '../../reports/data.js';
import { htmlReport } from '../../reports/html.js';
import { jsonReport } from '../../reports/json.js';
import { junitReport } from '../../reports/junit.js';
import { markdownReport } from '../../reports/markdown.js';
import { usageError } from '../failures.js';
import { messageOf } from '../foreign-errors.js';

export const WRITERS = { md: markdownReport, junit: junitReport, json: jsonReport, html: htmlReport } as const;
export type ReportFormat = keyof typeof WRITERS;

/** Files that a report is written to. */
export interface Outputs {
  junit?: string | undefined;
  html?: string | undefined;
  jsonFile?: string | undefined;
  summary?: string | undefined;
  /** Of GitHub: what is there stays. */
  stepSummary?: string | undefined;
}

const namedFiles = ({ junit, html, jsonFile, summary }: Outputs) =>
  [
    ['junit', junit],
    ['html', html],
    ['json', jsonFile],
    ['md', summary],
  ] as const;

/** Before anything runs: a report that could not be written is known at once, and not after hours. */
export async function makeRoom(outputs: Outputs): Promise<void> {
  for (const [, file] of namedFiles(outputs)) {
    if (file !== undefined) await touching(file, () => makeParent(file));
  }
}

export async function writeOutputs(outputs: Outputs, data: ScorecardReportData): Promise<void> {
  for (const [format, file] of namedFiles(outputs)) {
    if (file !== undefined) await writeReport(file, WRITERS[format](data));
  }
  const { stepSummary } = outputs;
  if (stepSummary !== undefined) await touching(stepSummary, () => appendFile(stepSummary, markdownReport(data)));
}

/** Whether a format lists every run. */
export const wantsAllRuns = ({ junit, html, jsonFile }: Outputs): boolean =>
  junit !== undefined || html !== undefined || jsonFile !== undefined;

export const writeReport = (file: string, text: string): Promise<void> =>
  touching(file, async () => {
    await makeParent(file);
    await writeFile(file, text);
  });

const makeParent = (file: string) => makeDirectory(path.dirname(path.resolve(file)));

/** Step by step: `recursive` goes on for ever where nothing can be made, as in `/proc`. */
async function makeDirectory(dir: string): Promise<void> {
  const found = await stat(dir).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (path.dirname(dir) !== dir) await makeDirectory(path.dirname(dir));
  await mkdir(dir);
}

async function touching(file: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw usageError(`${file} cannot be written: ${messageOf(error)}`);
  }
}
