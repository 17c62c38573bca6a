import { type Command, Option } from 'commander';
import { type EarlyStopOptions, earlyStopOf, withEarlyStop } from './early-stop-options.js';
import { collect, optionsOf, requireOptions, wholeNumber, withExamples } from './options.js';
import { waitAndReport, withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { type SubmitOptions, submit, submitRequest, withSubmitOptions } from './submit.js';
import { Submitted } from './wire.js';

/** Which cases of what, and how often. */
export interface CaseOptions {
  dataset: string;
  harness: string;
  limit?: number;
  case?: string[];
  tag?: string[];
  trials?: number;
  concurrency?: number;
}

interface RunOptions extends CaseOptions, SubmitOptions, EarlyStopOptions {
  wait: boolean;
  patience: number;
  deadline?: number;
}

export const withCaseOptions = (command: Command): Command =>
  command
    .option('--limit <n>', 'only the first so many cases', wholeNumber(1))
    .option('--case <id>', 'only this case; may be repeated', collect)
    .option('--tag <tag>', 'only cases that carry the tag; may be repeated, all must match', collect)
    .option('--trials <n>', 'run every case so often', wholeNumber(1))
    .option('--concurrency <n>', 'at most so many at once, whatever the runtime would admit', wholeNumber(1));

export function addScorecardRun(group: Command, terminal: Terminal): void {
  const needed = [new Option('--dataset <ref>', 'id or id@version'), new Option('--harness <ref>', 'id or id@version')];
  const command = withCaseOptions(requireOptions(group.command('run'), needed))
    .description('submit a scorecard, wait for it and report it; the exit code is its verdict')
    .option('--deadline <seconds>', 'so long after submitting, end every case that has no outcome', wholeNumber(1));
  withExamples(withPatience(withEarlyStop(withSubmitOptions(command)).option('--no-wait', 'only submit')), [
    'scorecard run --dataset tasks --harness solver --runtime desk',
    'scorecard run --dataset tasks@2.0.0 --harness solver --runtime desk --tag json --trials 3',
    'scorecard run --dataset tasks --harness solver --runtime auto --no-wait --json',
    'scorecard run --dataset tasks --harness solver --runtime desk --early-stop release --baseline nightly',
  ]).action(() => {
    const options = optionsOf<RunOptions>(command);
    return run(new Session(terminal, options), options);
  });
}

const counted = (cases: number): string => `${cases} ${cases === 1 ? 'case' : 'cases'}`;

async function run(session: Session, options: RunOptions): Promise<void> {
  const request = { ...scorecardRequest(options), earlyStop: await earlyStopOf(options) };
  const { reply, raw } = await submit(session, '/scorecards', Submitted, request, options);
  if (!options.wait) {
    const watch = `npx everdict scorecard watch ${reply.id}`;
    session.answer(raw, () => `${reply.id} submitted: ${counted(reply.cases)}\nnext: ${watch}\n`);
    return;
  }
  session.note(`${reply.id}: ${counted(reply.cases)} of ${options.dataset} with ${options.harness}`);
  await waitAndReport(session, reply.id, options.patience);
}

/** The body of `POST /scorecards`. */
export function scorecardRequest(
  options: CaseOptions & SubmitOptions & Pick<RunOptions, 'deadline'>,
): Record<string, unknown> {
  const { dataset, harness, trials, concurrency } = options;
  const cases = { ids: options.case, tags: options.tag, limit: options.limit };
  const isFiltered = Object.values(cases).some((filter) => filter !== undefined);
  const filter = isFiltered ? cases : undefined;
  return {
    dataset,
    harness,
    trials,
    concurrency,
    deadlineSec: options.deadline,
    cases: filter,
    ...submitRequest(options),
  };
}
