import { z } from 'zod';
import { EvalCase } from '../../contracts/case.js';
import { Dataset, DatasetSummary } from '../../contracts/dataset.js';
import { ExportedRun, ExportedScorecard } from '../../contracts/export.js';
import { Grader } from '../../contracts/grader.js';
import { HarnessSpec } from '../../contracts/harness.js';
import { AttemptEvent, CutEvent, EndEvent, PieceEvent } from '../../contracts/log-events.js';
import { AttemptView, RunView, Score } from '../../contracts/run.js';
import { ListedRun, QueueEntry, ShownRun, WaitingView } from '../../contracts/run-waiting.js';
import { RuntimeSpec } from '../../contracts/runtime.js';
import { RunRequest, ScorecardRequest, ScorecardView } from '../../contracts/scorecard.js';
import { FinishEvent, OldestRun, ProgressEvent, RunEvent } from '../../contracts/scorecard-events.js';
import { Counts, Rate, Rates } from '../../contracts/scorecard-numbers.js';
import { Straggler, Stragglers } from '../../contracts/straggler.js';
import { Problem } from '../common/problem.js';

const NAMED = {
  AttemptEvent,
  AttemptView,
  Counts,
  CutEvent,
  Dataset,
  DatasetSummary,
  EndEvent,
  EvalCase,
  ExportedRun,
  ExportedScorecard,
  FinishEvent,
  Grader,
  HarnessSpec,
  ListedRun,
  ShownRun,
  OldestRun,
  PieceEvent,
  Problem,
  ProgressEvent,
  QueueEntry,
  Rate,
  Rates,
  RunEvent,
  RunRequest,
  RunView,
  RuntimeSpec,
  Score,
  ScorecardRequest,
  ScorecardView,
  Straggler,
  Stragglers,
  WaitingView,
} as const satisfies Record<string, z.ZodType>;

type JsonSchema = Record<string, unknown>;

/** Component name of a value of any JSON type, the one shape that refers to itself. */
const ANY_JSON = 'JsonValue';

/** Turns zod schemas into JSON schemas that refer to each other by name, and collects what they refer to. */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {};
  private readonly names = z.registry<{ id: string }>();

  constructor() {
    for (const [id, schema] of Object.entries(NAMED)) this.names.add(schema, { id });
    for (const schema of Object.values(NAMED)) this.jsonSchema(schema);
  }

  /** What a client sends or may rely on; what has a name comes as a reference. */
  jsonSchema(schema: z.ZodType): JsonSchema {
    const {
      $schema: _,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io: 'input',
      metadata: this.names,
      unrepresentable: 'any',
    });
    for (const [name, definition] of Object.entries($defs ?? {})) {
      this.components[componentName(name)] = pointToComponents(definition);
    }
    return pointToComponents(root);
  }
}

const componentName = (definition: string): string => (definition.startsWith('__schema') ? ANY_JSON : definition);

function pointToComponents(schema: object): JsonSchema {
  const text = JSON.stringify(schema).replaceAll(
    /"#\/\$defs\/([^"]+)"/g,
    (_match, name: string) => `"#/components/schemas/${componentName(name)}"`,
  );
  return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
}
