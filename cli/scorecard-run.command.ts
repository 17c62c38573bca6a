import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { EXIT } from './exit-codes.js';
import { CliError } from './failures.js';
import { jsonBody } from './http.client.js';
import { collect, collectPair, optionsOf, wholeNumber } from './options.js';
import { waitAndReport, withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { Submitted } from './wire.js';

/** Tries to submit while the connection breaks; the key makes a repetition harmless. */
const SUBMIT_TRIES = 3;
const SUBMIT_PAUSE_MS = 1_000;

export interface RunOptions {
  dataset: string;
  harness: string;
  runtime?: string;
  limit?: number;
  case?: string[];
  tag?: string[];
  trials?: number;
  concurrency?: number;
  deadline?: number;
  class?: string;
  infraRetries?: number;
  param?: Record<string, string>;
  metadata?: Record<string, string>;
  idempotencyKey?: string;
  wait: boolean;
  patience: number;
}

export function addScorecardRun(group: Command, terminal: Terminal): void {
  const command = group
    .command('run')
    .description('submit a scorecard, wait for it and report it; the exit code is its verdict')
    .requiredOption('--dataset <ref>', 'id or id@version')
    .requiredOption('--harness <ref>', 'id or id@version')
    .option('--runtime <ref>', 'id or id@version; without it each case needs a placement.target')
    .option('--limit <n>', 'only the first so many cases', wholeNumber(1))
    .option('--case <id>', 'only this case; may be repeated', collect)
    .option('--tag <tag>', 'only cases that carry the tag; may be repeated, all must match', collect)
    .option('--trials <n>', 'run every case so often', wholeNumber(1))
    .option('--concurrency <n>', 'at most so many at once, whatever the runtime would admit', wholeNumber(1))
    .option('--deadline <seconds>', 'so long after submitting, end every case that has no outcome', wholeNumber(1))
    .addOption(new Option('--class <class>', 'interactive goes first').choices(['interactive', 'batch']))
    .option('--infra-retries <n>', 'new attempts after a failure of the infrastructure', wholeNumber(0))
    .option('--param <name=value>', 'EVERDICT_PARAM_<NAME> of the job; may be repeated', collectPair)
    .option('--metadata <name=value>', 'where it comes from, like sha=… or branch=…; may be repeated', collectPair)
    .option('--idempotency-key <key>', 'the same key again within 24 h is the same scorecard')
    .option('--no-wait', 'only submit');
  withPatience(command).action(() => {
    const options = optionsOf<RunOptions>(command);
    return run(new Session(terminal, options), options);
  });
}

async function run(session: Session, options: RunOptions): Promise<void> {
  const { reply, raw } = await submit(session, options);
  if (!options.wait) {
    const watch = `npx everdict scorecard watch ${reply.id}`;
    session.answer(raw, () => `${reply.id} submitted: ${reply.cases} cases\nnext: ${watch}\n`);
    return;
  }
  session.note(`${reply.id}: ${reply.cases} cases of ${options.dataset} with ${options.harness}`);
  await waitAndReport(session, reply.id, options.patience);
}

/** The body of `POST /scorecards`; what was not given is left to the platform's defaults. */
export function scorecardRequest(options: RunOptions): Record<string, unknown> {
  const { dataset, harness, runtime, trials, concurrency, infraRetries } = options;
  const cases = { ids: options.case, tags: options.tag, limit: options.limit };
  const isFiltered = Object.values(cases).some((filter) => filter !== undefined);
  return {
    dataset,
    harness,
    runtime,
    trials,
    concurrency,
    infraRetries,
    deadlineSec: options.deadline,
    class: options.class,
    params: options.param,
    metadata: options.metadata,
    cases: isFiltered ? cases : undefined,
  };
}

async function submit(session: Session, options: RunOptions) {
  const headers = { 'idempotency-key': options.idempotencyKey ?? randomUUID() };
  const body = jsonBody(scorecardRequest(options));
  for (let tried = 1; ; tried += 1) {
    try {
      return await session.client.post('/scorecards', Submitted, { body, headers });
    } catch (error) {
      if (!mayPass(error) || tried === SUBMIT_TRIES) throw error;
      await session.terminal.sleep(SUBMIT_PAUSE_MS);
    }
  }
}

/** Worth another try: a connection that broke on the way. Where nobody listens, nobody will in a second. */
const mayPass = (error: unknown): boolean =>
  error instanceof CliError && error.exitCode === EXIT.unreachable && !/ECONNREFUSED|ENOTFOUND/.test(error.message);
