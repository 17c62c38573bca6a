import { z } from 'zod';
import { WorkClass } from './admission.js';
import { SpecId, SpecRef } from './ids.js';
import { CaseFilter } from './scorecard.js';

const limit = (max: number) => z.int().min(1).max(max);

/** Other limits of a runtime; those that are not named stay. */
export const LimitChange = z
  .strictObject({
    slots: limit(100_000).optional(),
    memoryMb: limit(1_000_000_000).optional(),
    cpuMillicores: limit(1_000_000_000).optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: 'names no limit: give `slots`, `memoryMb` or `cpuMillicores`',
  });
export type LimitChange = z.infer<typeof LimitChange>;

/** As much of a scorecard as it takes to simulate it. */
export const ScorecardPlan = z.strictObject({
  dataset: SpecRef,
  harness: SpecRef,
  runtime: SpecRef,
  cases: CaseFilter.optional(),
  trials: z.int().min(1).max(1_000).default(1),
  class: WorkClass.default('batch'),
  concurrency: z.int().min(1).max(100_000).optional(),
});
export type ScorecardPlan = z.infer<typeof ScorecardPlan>;

/** What would change: a runtime by other limits, or its load by one more scorecard. */
export const SimulationRequest = z
  .strictObject({
    runtime: SpecId.optional(),
    change: LimitChange.optional(),
    scorecard: ScorecardPlan.optional(),
    /** The same seed over the same state gives the same answer. */
    seed: z.int().min(0).max(2_147_483_647).default(1),
  })
  .superRefine(({ runtime, change, scorecard }, ctx) => {
    const isChange = runtime !== undefined && change !== undefined && scorecard === undefined;
    const isScorecard = runtime === undefined && change === undefined && scorecard !== undefined;
    if (isChange || isScorecard) return;
    const path = scorecard === undefined ? [runtime === undefined ? 'runtime' : 'change'] : ['scorecard'];
    ctx.addIssue({ code: 'custom', path, message: 'give either `runtime` with `change`, or `scorecard`' });
  });
export type SimulationRequest = z.infer<typeof SimulationRequest>;

const seconds = (meaning: string) => z.number().nullable().describe(`${meaning}; null: nobody can say`);

/** Seconds from now: by even odds, and in nine of ten futures. */
export const SpreadSec = z.strictObject({ p50: seconds('Even odds'), p90: seconds('Nine of ten') });
export type SpreadSec = z.infer<typeof SpreadSec>;

export const WaitsView = z.strictObject({
  workspace: z.string().describe('`others`: all but yours, together'),
  cases: z.int(),
  wait: SpreadSec,
});

/** How a load comes to its end. */
export const FutureView = z.strictObject({
  cases: z.int().describe('Cases that start from now on'),
  wallSec: SpreadSec.describe('Until the last of all cases, those that run now included, has ended'),
  waits: z.array(WaitsView),
  peak: z.strictObject({ slots: z.int(), memoryMb: z.int(), cpuMillicores: z.int() }),
  refused: z.int().describe('Cases that declare more than the whole runtime has'),
});
export type FutureView = z.infer<typeof FutureView>;

/** What the simulation was fed with. */
export const Assumptions = z.strictObject({
  replications: z.int().describe('Futures that were simulated'),
  durations: z.array(
    z.strictObject({
      harness: z.string(),
      dataset: z.string().nullable(),
      cases: z.int(),
      basis: z.enum(['harness and dataset', 'harness', 'runtime']).nullable().describe('null: nothing is known'),
      attempts: z.int().describe('Attempts that the durations are taken from'),
      held: SpreadSec.describe('Seconds for which a case holds its slot'),
    }),
  ),
  notes: z.array(z.string()),
});
export type Assumptions = z.infer<typeof Assumptions>;

export const Simulation = z.strictObject({
  runtime: z.string(),
  seed: z.int(),
  limits: z.strictObject({
    slots: z.int(),
    memoryMb: z.int().nullable(),
    cpuMillicores: z.int().nullable(),
  }),
  before: FutureView.describe('As it stands'),
  after: FutureView.describe('With the change, or with the scorecard'),
  scorecard: z
    .strictObject({ cases: z.int(), firstStartSec: SpreadSec, doneSec: SpreadSec, wait: SpreadSec })
    .nullable()
    .describe('What becomes of the scorecard; null for a change'),
  assumptions: Assumptions,
});
export type Simulation = z.infer<typeof Simulation>;
