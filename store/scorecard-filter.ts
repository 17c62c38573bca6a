import { SHARED_WORKSPACE } from '../contracts/ids.js';
import type { ScorecardStatus } from '../contracts/scorecard.js';
import { parseRef } from './spec-ref.js';
import { type Queryable, rows } from './sql.js';

/** Which scorecards of a list are wanted, and which page of them. */
export interface ScorecardFilter {
  status?: ScorecardStatus;
  /** `id`, for every version, or `id@version`. */
  dataset?: string;
  harness?: string;
  /** Those that have all of these. */
  metadata?: Readonly<Record<string, string>>;
  retryOf?: string;
  isStoppedEarly?: boolean;
  /** The last id of the page before. */
  after?: string;
  limit: number;
}

/** Read in the order of its index, or the planner hopes to meet a run soon by reading all there are. */
const FIRST_BEGUN = `(SELECT ordinal FROM runs WHERE scorecard_id = s.id AND (outcome IS NOT NULL OR open_attempt IS NOT NULL)
  ORDER BY outcome, ordinal LIMIT 1)`;

const IS_BEGUN = { queued: 'IS NULL', running: 'IS NOT NULL' } as const;

const conditionOf = (status: ScorecardStatus): string =>
  status === 'queued' || status === 'running'
    ? `s.phase = 'open' AND ${FIRST_BEGUN} ${IS_BEGUN[status]}`
    : `s.phase = '${status}'`;

/** What follows FROM scorecards `s`, and its parameters: newest first. What is deleted is not there. */
export async function listed(
  db: Queryable,
  workspaceId: string,
  filter: ScorecardFilter,
): Promise<{ where: string; params: unknown[] }> {
  const params: unknown[] = [];
  const given = (value: unknown): string => `$${params.push(value)}`;
  const conditions = [`s.workspace_id = ${given(workspaceId)}`, 's.deleted_at IS NULL'];
  const { status, dataset, harness, metadata, retryOf, isStoppedEarly, after, limit } = filter;
  if (status) conditions.push(conditionOf(status));
  // Keys, and not a join: how many scorecards they have is known to the planner.
  if (dataset) conditions.push(`s.dataset_pk = ANY (${given(await keysOf(db, 'datasets', workspaceId, dataset))})`);
  if (harness) conditions.push(`s.harness_pk = ANY (${given(await keysOf(db, 'harnesses', workspaceId, harness))})`);
  if (metadata) conditions.push(`s.metadata @> ${given(JSON.stringify(metadata))}::jsonb`);
  if (retryOf) conditions.push(`s.retry_of = ${given(retryOf)}`);
  if (isStoppedEarly !== undefined) conditions.push(`s.stopped_early IS ${isStoppedEarly ? 'NOT NULL' : 'NULL'}`);
  if (after) conditions.push(`s.id < ${given(after)}`);
  return { where: `WHERE ${conditions.join(' AND ')} ORDER BY s.id DESC LIMIT ${given(limit)}`, params };
}

/** Of the versions that a reference names, of the workspace and of what is shared. */
async function keysOf(
  db: Queryable,
  table: 'datasets' | 'harnesses',
  workspaceId: string,
  ref: string,
): Promise<number[]> {
  const { id, version = null } = parseRef(ref);
  const found = await rows<{ pk: number }>(
    db,
    `SELECT pk FROM ${table} WHERE workspace_id = ANY ($1) AND id = $2 AND ($3::text IS NULL OR version = $3)`,
    [[workspaceId, SHARED_WORKSPACE], id, version],
  );
  return found.map(({ pk }) => pk);
}
