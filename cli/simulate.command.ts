import { type Command, Option } from 'commander';
import { z } from 'zod';
import { Assumptions, FutureView, Simulation, SpreadSec, WaitsView } from '../contracts/simulation.js';
import { usageError } from './failures.js';
import { jsonBody } from './http.client.js';
import { collect, optionsOf, wholeNumber, withExamples } from './options.js';
import { Session, type Terminal } from './session.js';
import { simulationText } from './simulation-text.js';
import { jsonFile } from './spec-files.js';

const spread = z.object(SpreadSec.shape);
const future = z.object({
  ...FutureView.shape,
  ...{ wallSec: spread, peak: z.object(FutureView.shape.peak.shape) },
  waits: z.array(z.object({ ...WaitsView.shape, wait: spread })),
});

/** What the command line reads of the answer; keys it does not know are ignored. */
const SimulationReply = z.object({
  ...Simulation.shape,
  limits: z.object(Simulation.shape.limits.shape),
  ...{ before: future, after: future },
  scorecard: z.object({ cases: z.number(), firstStartSec: spread, doneSec: spread, wait: spread }).nullable(),
  assumptions: z.object({
    ...Assumptions.shape,
    durations: z.array(z.object({ ...Assumptions.shape.durations.element.shape, held: spread })),
  }),
});
export type SimulationReply = z.infer<typeof SimulationReply>;

interface SimulateOptions {
  runtime?: string;
  slots?: number;
  memoryMb?: number;
  cpuMillicores?: number;
  scorecard?: string;
  dataset?: string;
  harness?: string;
  limit?: number;
  tag?: string[];
  trials?: number;
  concurrency?: number;
  class?: string;
  seed?: number;
}

/** What a scorecard says that changes nothing about when its cases start. */
const UNPLANNED = ['params', 'infraRetries', 'metadata', 'deadlineSec'];

/** `simulate`: what other limits, or one more scorecard, would come to. Nothing is changed. */
export function addSimulate(program: Command, terminal: Terminal): void {
  const command = program
    .command('simulate')
    .description('what other limits of a runtime, or one more scorecard, would come to; nothing is changed')
    .option('--runtime <ref>', 'the runtime that is meant')
    .option('--slots <n>', 'with so many slots', wholeNumber(1))
    .option('--memory-mb <n>', 'with so much memory for what its cases declare', wholeNumber(1))
    .option('--cpu-millicores <n>', 'with so much CPU for what its cases declare', wholeNumber(1))
    .option('--scorecard <file>', 'with this scorecard, a JSON file as for POST /scorecards; - is stdin')
    .option('--dataset <ref>', 'with a scorecard of this dataset')
    .option('--harness <ref>', 'and this harness')
    .option('--limit <n>', 'only its first so many cases', wholeNumber(1))
    .option('--tag <tag>', 'only cases that carry the tag; may be repeated, all must match', collect)
    .option('--trials <n>', 'every case so often', wholeNumber(1))
    .option('--concurrency <n>', 'at most so many of it at once', wholeNumber(1))
    .addOption(new Option('--class <class>', 'how it is queued').choices(['batch', 'interactive']))
    .option('--seed <n>', 'the same seed over the same state gives the same answer', wholeNumber(0));
  withExamples(command, [
    'simulate --runtime desk --slots 16',
    'simulate --dataset tasks --harness solver --runtime desk --trials 3',
    'simulate --scorecard plan.json --json',
  ]).action(async () => {
    const options = optionsOf<SimulateOptions>(command);
    const session = new Session(terminal, options);
    const request = await requestOf(options);
    const { reply, raw } = await session.client.post('/simulate', SimulationReply, { body: jsonBody(request) });
    session.answer(raw, () => simulationText(reply, session.columns));
  });
}

async function requestOf(options: SimulateOptions): Promise<Record<string, unknown>> {
  const { runtime, slots, memoryMb, cpuMillicores, scorecard, dataset, harness, seed } = options;
  const isChange = slots !== undefined || memoryMb !== undefined || cpuMillicores !== undefined;
  const isPlan = dataset !== undefined || harness !== undefined;
  if ([isChange, isPlan, scorecard !== undefined].filter(Boolean).length !== 1) {
    throw usageError(
      'say what would change, one of: --slots, --memory-mb or --cpu-millicores; --dataset and --harness; --scorecard',
    );
  }
  if (scorecard !== undefined) return { scorecard: await planFrom(scorecard, runtime), seed };
  if (runtime === undefined) throw usageError("required option '--runtime <ref>' not specified");
  if (isChange) return { runtime, change: { slots, memoryMb, cpuMillicores }, seed };
  const { limit, tag, trials, concurrency } = options;
  const cases = limit === undefined && tag === undefined ? undefined : { limit, tags: tag };
  return { scorecard: { dataset, harness, runtime, cases, trials, concurrency, class: options.class }, seed };
}

/** `--runtime` in place of its own. */
async function planFrom(file: string, runtime: string | undefined): Promise<Record<string, unknown>> {
  const { bytes } = await jsonFile(file);
  const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  if (!parsed.success) throw usageError(`${file} holds no JSON object`);
  const plan = Object.entries(parsed.data).filter(([key]) => !UNPLANNED.includes(key));
  return { ...Object.fromEntries(plan), ...(runtime !== undefined && { runtime }) };
}
