import type { FieldError } from '../../contracts/errors.js';
import { fieldPath, quoted } from '../../contracts/field-path.js';
import type { GateRules } from '../../contracts/gate.js';
import type { Side } from '../comparison/side.js';
import { named } from '../gate/finding.js';

/** A case that a scorecard is to have. */
export interface SelectedCase {
  caseId: string;
  tags: readonly string[];
  gradersHash: string;
}

/** A scorecard that is not there yet. */
export interface Batch {
  /** id@version, and the hash of its content. */
  dataset: string;
  datasetHash: string;
  trials: number;
  cases: readonly SelectedCase[];
}

const POLICY = ['earlyStop', 'policy'] as const;
const BASELINE = 'earlyStop.baseline';

/** Why a scorecard cannot end early by these rules, against this baseline; empty: it can. */
export function misfits(rules: GateRules, batch: Batch, baseline: Side | undefined): FieldError[] {
  return [...ruleMisfits(rules, batch, baseline !== undefined), ...(baseline ? baselineMisfits(batch, baseline) : [])];
}

function ruleMisfits(rules: GateRules, { trials, cases, dataset }: Batch, hasBaseline: boolean): FieldError[] {
  const { perTag = {}, critical, minTrialsPassed, maxRegressions } = rules;
  const found: FieldError[] = [];
  const at = (segments: readonly PropertyKey[], message: string): void => {
    found.push({ path: fieldPath([...POLICY, ...segments]), message });
  };
  const tags = new Set(cases.flatMap((each) => each.tags));
  const ids = new Set(cases.map(({ caseId }) => caseId));
  const needsTag = (segments: readonly PropertyKey[], tag: string): void => {
    if (!tags.has(tag)) at(segments, `no case of ${dataset} that is selected has the tag ${quoted(tag)}`);
  };

  const counts =
    maxRegressions !== undefined || Object.values(perTag).some((rule) => rule.maxRegressions !== undefined);
  if (counts && !hasBaseline) found.push({ path: BASELINE, message: 'is needed: `maxRegressions` counts against it' });
  if (minTrialsPassed !== undefined && minTrialsPassed > trials) {
    at(['minTrialsPassed'], `is ${minTrialsPassed}, and each case has ${trials}: raise \`trials\``);
  }
  for (const tag of Object.keys(perTag)) needsTag(['perTag', tag], tag);
  for (const [i, tag] of (critical?.tags ?? []).entries()) needsTag(['critical', 'tags', i], tag);
  const unknown = (critical?.cases ?? []).filter((id) => !ids.has(id));
  if (unknown.length > 0) at(['critical', 'cases'], `of ${dataset}, ${named(unknown)} is not selected`);
  return found;
}

/** A rest that nobody runs cannot be guessed from other cases: both must have the same. */
function baselineMisfits({ dataset, datasetHash, trials, cases }: Batch, { scorecard, results }: Side): FieldError[] {
  const gradersBefore = new Map(results.map(({ caseId, gradersHash }) => [caseId, gradersHash]));
  const selected = new Map(cases.map(({ caseId, gradersHash }) => [caseId, gradersHash]));
  const fresh = [...selected.keys()].filter((id) => !gradersBefore.has(id));
  const missing = [...gradersBefore.keys()].filter((id) => !selected.has(id));
  const regraded = [...selected].filter(([id, hash]) => gradersBefore.has(id) && gradersBefore.get(id) !== hash);
  const reasons = [
    ...(scorecard.datasetHash === datasetHash
      ? []
      : [`is of ${scorecard.dataset}, and this is of other content, ${dataset}`]),
    ...(scorecard.trials === trials ? [] : [`has trials ${scorecard.trials}, and this has ${trials}`]),
    ...(fresh.length > 0 ? [`lacks ${fresh.length} of the selected cases: ${named(fresh)}`] : []),
    ...(missing.length > 0 ? [`has ${missing.length} cases that are not selected: ${named(missing)}`] : []),
    ...(regraded.length > 0
      ? [`was judged by other graders in ${regraded.length} cases: ${named(regraded.map(([id]) => id))}`]
      : []),
  ];
  return reasons.map((reason) => ({ path: BASELINE, message: `scorecard ${scorecard.id} ${reason}` }));
}
