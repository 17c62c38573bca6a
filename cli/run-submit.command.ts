import { type Command, Option } from 'commander';
import { usageError } from './failures.js';
import { optionsOf, requireOptions, withExamples } from './options.js';
import { waitForRun } from './run-wait.js';
import { withPatience } from './scorecard-wait.js';
import { Session, type Terminal } from './session.js';
import { jsonFile } from './spec-files.js';
import { type SubmitOptions, submit, submitRequest, withSubmitOptions } from './submit.js';
import { SubmittedRun } from './wire.js';

interface RunSubmitOptions extends SubmitOptions {
  wait: boolean;
  patience: number;
  harness: string;
  dataset?: string;
  case?: string;
  caseFile?: string;
}

export function addRunSubmit(group: Command, terminal: Terminal): void {
  const command = requireOptions(group.command('submit'), [new Option('--harness <ref>', 'id or id@version')])
    .description('run one case, of a dataset or of a file, wait for it and show it; the exit code is its verdict')
    .option('--dataset <ref>', 'id or id@version; goes with --case')
    .option('--case <id>', 'the case of that dataset')
    .option('--case-file <file>', 'a JSON file with one case, instead');
  withExamples(withPatience(withSubmitOptions(command).option('--no-wait', 'only submit')), [
    'run submit --dataset tasks --case math/sum --harness solver --runtime desk',
    'run submit --case-file case.json --harness solver --runtime desk --param STYLE=verbose',
  ]).action(async () => {
    const options = optionsOf<RunSubmitOptions>(command);
    const session = new Session(terminal, options);
    const request = { harness: options.harness, ...(await whichCase(options)), ...submitRequest(options) };
    const { reply, raw } = await submit(session, '/runs', SubmittedRun, request, options);
    if (options.wait) return waitForRun(session, reply.id, options.patience);
    session.answer(raw, () => `${reply.id} submitted\nnext: npx everdict run watch ${reply.id}\n`);
  });
}

async function whichCase({ dataset, case: caseId, caseFile }: RunSubmitOptions): Promise<Record<string, unknown>> {
  const isRegistered = dataset !== undefined && caseId !== undefined;
  if (isRegistered && caseFile === undefined) return { dataset, caseId };
  if (caseFile === undefined || dataset !== undefined || caseId !== undefined) {
    throw usageError('say which case: --dataset with --case, or --case-file');
  }
  const { bytes } = await jsonFile(caseFile);
  return { case: JSON.parse(new TextDecoder().decode(bytes)) };
}
