import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { jsonReport } from '../reports/json.js';
import { kinOf } from './ci/baseline.js';
import { type EvaluationRequest, evaluate } from './ci/evaluate.js';
import { originOf } from './ci/origin.js';
import { makeRoom, type Outputs, wantsAllRuns, writeOutputs } from './ci/outputs.js';
import { reportText } from './ci/report-text.js';
import { supersede } from './ci/supersede.js';
import { duration } from './duration.js';
import { optionsOf, requireOptions, share, wholeNumber, withExamples } from './options.js';
import { type CaseOptions, scorecardRequest, withCaseOptions } from './scorecard-run.command.js';
import { type GlobalOptions, Session, type Terminal } from './session.js';
import { type SubmitOptions, withSubmitOptions } from './submit.js';
import { addCiBindings } from './workspace.commands.js';

interface CiOptions extends SubmitOptions, CaseOptions, Outputs {
  policy?: string;
  baseline?: string;
  baselineBranch?: string;
  intersection?: boolean;
  earlyStop?: true | number;
  timeout?: number;
  patience: number;
  supersede?: boolean;
  cancel: boolean;
}

const HELP = `
The policy is a registered one (\`npx everdict policy list\`) or a file of rules, like {"minPassRate": 0.8}. Without one
every case must pass; with a baseline no case may pass less than there.

Exit codes:
  0    pass
  1    block
  2    cannot tell: cases are missing, cancelled or errored by infrastructure, or there is no baseline yet
  3    wrong usage, or the platform refused the input
  4    the platform cannot be reached
  130  interrupted; the scorecard is cancelled, unless --no-cancel was given`;

/** `ci`: submit, wait, compare and judge in one command, for jobs of CI. */
export function addCi(program: Command, terminal: Terminal): void {
  const needed = [new Option('--dataset <ref>', 'id or id@version'), new Option('--harness <ref>', 'id or id@version')];
  const command = requireOptions(program.command('ci'), needed)
    .description('submit a scorecard, wait for it, compare it and judge it; the exit code is the verdict')
    .option(
      '--policy <policy>',
      'what must hold: id or id@version of a registered policy, a file (….json), or rules as JSON',
    )
    .addOption(
      new Option('--baseline <baseline>', 'compare with this scorecard, or pinned name').conflicts('baselineBranch'),
    )
    .option(
      '--baseline-branch <branch>',
      'compare with the newest completed scorecard that has it as its metadata branch',
    )
    .option('--intersection', 'compare only the cases that are the same on both sides')
    .option('--early-stop [rate]', 'end once the verdict is certain, at this rate of error (default: 0.05)', share)
    .option('--timeout <duration>', 'end every case without outcome so long after the submit: 90s, 30m, 2h', duration)
    .option('--patience <seconds>', 'give up after so long without an answer of the platform', wholeNumber(1), 300)
    .option('--supersede', 'cancel what is older and unfinished of the same pull request')
    .option('--no-cancel', 'when interrupted, leave the scorecard going')
    .option('--junit <file>', 'write the report as JUnit XML')
    .option('--html <file>', 'write it as one page of HTML')
    .option('--json-file <file>', 'write it as JSON')
    .option(
      '--summary <file>',
      'write it as Markdown (besides: it is added to $GITHUB_STEP_SUMMARY, where that is set)',
    );
  withSubmitOptions(withCaseOptions(command)).addHelpText('after', HELP);
  withExamples(command, [
    'ci --dataset tasks --harness solver --runtime desk',
    'ci --dataset tasks --harness solver --runtime desk --policy policy.json --baseline-branch main --junit report.xml',
    'ci --dataset tasks@2.0.0 --harness solver --runtime desk --baseline release-2 --trials 3 --timeout 2h --supersede',
  ]).action(() => run(terminal, optionsOf<CiOptions>(command)));
  addCiBindings(command, terminal);
}

async function run(terminal: Terminal, options: CiOptions & GlobalOptions): Promise<void> {
  const session = new Session(terminal, options);
  const outputs = { ...options, stepSummary: terminal.env.GITHUB_STEP_SUMMARY };
  await makeRoom(outputs);
  const { data, exitCode } = await evaluate(session, requestOf(session, options));
  await writeOutputs(outputs, data);
  session.terminal.out.write(session.isJson ? jsonReport(data) : reportText(data, session.columns));
  terminal.setExitCode(exitCode);
}

function requestOf(session: Session, options: CiOptions): EvaluationRequest {
  const { dataset, harness, policy, baseline, baselineBranch, earlyStop, timeout, patience } = options;
  const metadata = { ...originOf(session.terminal.env), ...options.metadata };
  return {
    ...{ dataset, harness, policy, baseline, baselineBranch, kin: kinOf(metadata) },
    scorecard: scorecardRequest({ ...options, metadata }),
    idempotencyKey: options.idempotencyKey ?? randomUUID(),
    on: options.intersection ? 'intersection' : undefined,
    earlyStop: earlyStop === undefined ? undefined : { errorRate: earlyStop === true ? undefined : earlyStop },
    timeoutSec: timeout,
    patienceSec: patience,
    isCancelling: options.cancel,
    runs: session.isJson || wantsAllRuns(options) ? 'all' : 'not-passed',
    ...(options.supersede && { onSubmitted: (id: string) => supersede(session, id) }),
  };
}
