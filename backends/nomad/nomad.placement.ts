import type { AttemptFailure } from '../../contracts/attempt.js';
import { oneLine, quoted } from '../cluster-text.js';
import type { NomadJobDocument } from './nomad.document.js';
import type { JobEvaluation, PlacementFailure } from './nomad.replies.js';

/** Of each kind, in one text. */
const MOST_NAMED = 5;
const LONGEST = 800;

/** What Nomad filters nodes by, other than constraints, in our words. */
const FILTERS: Readonly<Record<string, string>> = {
  'missing drivers': 'the driver is missing or not healthy',
  'missing devices': 'the devices (`gpu`) are missing',
  'computed class ineligible': 'no node of that class fits',
};

/**
 * Why a job without an allocation is not placed; undefined where it is just queued. First that applies:
 * 1. its newest blocked evaluation, found among all of the job: the one that registering made may not name it,
 * 2. the newest of the others, if it failed to place: those keep their failures for ever, so no older one counts.
 * A cancelled one gave way to a blocked one of the same job, and says nothing.
 */
export function waitingOf(
  job: Pick<NomadJobDocument, 'Datacenters'>,
  evaluations: readonly JobEvaluation[],
): { detail: string } | undefined {
  const newestFirst = evaluations
    .filter(({ Status }) => Status !== 'canceled')
    .sort((a, b) => b.CreateIndex - a.CreateIndex);
  const blocked = newestFirst.find(({ Status }) => Status === 'blocked');
  const evaluation = blocked ?? newestFirst[0];
  if (!evaluation) return undefined;
  const failures = Object.values(evaluation.FailedTGAllocs);
  const whys = [...quotas(evaluation, failures), ...failures.flatMap((failure) => whysOf(failure, job))];
  if (whys.length > 0) return { detail: `placement blocked: ${[...new Set(whys)].join(', ')}`.slice(0, LONGEST) };
  const told = `${evaluation.TriggeredBy} ${evaluation.StatusDescription}`;
  if (/max-plan-attempts|maximum attempts reached/.test(told)) {
    return { detail: 'placement blocked: the plans of several schedulers collided (maximum attempts reached)' };
  }
  if (blocked) return { detail: `placement blocked: ${quoted(evaluation.StatusDescription) || 'no reason is given'}` };
  return undefined;
}

function quotas({ QuotaLimitReached }: JobEvaluation, failures: readonly PlacementFailure[]): string[] {
  const exhausted = failures.flatMap(({ QuotaExhausted }) => QuotaExhausted).slice(0, MOST_NAMED);
  if (QuotaLimitReached === '' && exhausted.length === 0) return [];
  const name = QuotaLimitReached && ` ${oneLine(QuotaLimitReached)}`;
  return [`the quota${name} is used up${exhausted.length > 0 ? ` (${exhausted.map(quoted).join(', ')})` : ''}`];
}

function whysOf(failure: PlacementFailure, { Datacenters }: Pick<NomadJobDocument, 'Datacenters'>): string[] {
  const exhausted = named(failure.DimensionExhausted).map(([name, nodes]) => `${oneLine(name)} exhausted on ${nodes}`);
  const filtered = named(failure.ConstraintFiltered).map(([name, nodes]) => {
    const filter = FILTERS[name];
    return filter ? `${filter} ("${name}") on ${nodes}` : `constraint \`${quoted(name)}\` not met by ${nodes}`;
  });
  const whys = [...exhausted, ...filtered];
  if (whys.length > 0 || failure.QuotaExhausted.length > 0) return whys;
  if (failure.NodesEvaluated > 0) {
    return [`none of ${nodesText(failure.NodesEvaluated)} that Nomad looked at takes it`];
  }
  const where = Datacenters.slice(0, MOST_NAMED).map((name) => oneLine(name));
  const theirs = where.length > 0 ? ` (\`datacenters\`: ${where.join(', ')})` : '';
  return [
    `no node is eligible: its datacenters${theirs} or its node pool have none, or all of them are drained or ineligible; Nomad does not tell these apart`,
  ];
}

/** The most frequent first, as texts; the rest are counted. */
function named(counts: Readonly<Record<string, number>>): [name: string, nodes: string][] {
  const sorted = Object.entries(counts).sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
  return sorted.slice(0, MOST_NAMED).map(([name, count]) => [name, nodesText(count)]);
}

const nodesText = (count: number): string => `${count} node${count === 1 ? '' : 's'}`;

/** A job that was only queued for as long as a start may take. */
export const undecided = (patienceSec: number): AttemptFailure => ({
  code: 'PLACEMENT_TIMEOUT',
  message: `not placed within ${patienceSec} s (EVERDICT_START_PATIENCE_SEC): Nomad has it queued, and gives no reason`,
});
