import path from 'node:path';
import { setOutput, warning } from '@actions/core';
import type { Evaluation } from '../cli/ci/evaluate.js';
import { type Outputs, writeOutputs } from '../cli/ci/outputs.js';
import type { Session } from '../cli/session.js';
import type { ScorecardReportData } from '../reports/data.js';
import { markdownReport } from '../reports/markdown.js';
import { annotate, annotationsOf, answerOf, isFailing } from './annotations.js';
import { LONGEST_COMMENT, putComment, whyNoComment } from './comment.js';
import { createGitHub } from './github.client.js';
import { keyOf } from './inputs.js';
import type { Step } from './step.js';

/** What the output says where the policy needs a baseline and there is none yet. */
const NO_BASELINE = 'no_baseline';

/** Where every report goes. Paths of inputs are of the workspace of the job. */
export function reportFiles({ env, inputs }: Pick<Step, 'env' | 'inputs'>): Outputs {
  const dir = path.resolve(env.GITHUB_WORKSPACE, inputs['report-dir']);
  const [html, junit, jsonFile, summary] = ['report.html', 'junit.xml', 'report.json', 'report.md'].map((name) =>
    path.join(dir, name),
  );
  return { html, junit, jsonFile, summary, stepSummary: env.GITHUB_STEP_SUMMARY };
}

/** Tells the verdict wherever a workflow or its readers look for it, and fails the step where it is to. */
export async function publish(session: Session, step: Step, { data }: Evaluation): Promise<void> {
  const failOn = step.inputs['fail-on'];
  const files = reportFiles(step);
  await writeOutputs(files, data);
  setOutputs(data, files);
  await comment(session, step, markdownReport(data, LONGEST_COMMENT));
  annotate(annotationsOf(data.gate, data.remark, failOn));
  if (isFailing(answerOf(data.gate), failOn)) process.exitCode = 1;
}

function setOutputs({ gate, scorecard }: ScorecardReportData, { html, junit, jsonFile, summary }: Outputs): void {
  setOutput('verdict', gate?.effective ?? NO_BASELINE);
  setOutput('scorecard-id', scorecard.id);
  setOutput('gate-id', gate?.id ?? '');
  setOutput('pass-rate', (gate ? gate.evidence.passRate : scorecard.rates.final).rate ?? '');
  setOutput('regressions', gate?.evidence.regressionCount ?? '');
  setOutput('report-html', html);
  setOutput('report-junit', junit);
  setOutput('report-json', jsonFile);
  setOutput('report-markdown', summary);
}

/** The verdict does not depend on it: where there can be no comment, that is said and no more. */
async function comment(session: Session, { env, inputs, occasion }: Step, text: string): Promise<void> {
  const { comment: isWanted, 'github-token': token } = inputs;
  if (!isWanted || occasion.pr === undefined) return;
  try {
    if (token === undefined) throw new Error('the input github-token is empty');
    const github = createGitHub({ apiUrl: env.GITHUB_API_URL, token, say: (message) => session.note(message) });
    const pull = { repository: env.GITHUB_REPOSITORY, number: occasion.pr };
    session.note(`comment: ${await putComment(github, pull, keyOf(env, inputs), text)}`);
  } catch (error) {
    warning(whyNoComment(error), { title: 'Everdict: no comment' });
  }
}
