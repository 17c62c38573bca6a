import type { DataSource } from 'typeorm';
import type { Demand, Lease, Ticket, WorkClass } from '../contracts/admission.js';
import type { CaseFilter } from '../contracts/scorecard.js';
import { MAX_TICKETS } from '../policy/admission/ledger.js';
import type { Backlog, Grouped } from '../policy/admission/load.js';
import { boundedRead } from './bounded.js';
import { type DemandRow, demandOfRow } from './demand-row.js';
import {
  type DurationKey,
  durationKey,
  liveLeases,
  type OfCase,
  ticketDemand,
  type WithDemand,
  waitingTickets,
} from './pool-rows.js';
import { filterParams, selectedCases } from './selected-cases.js';
import { type Queryable, rows } from './sql.js';

/** What takes and asks for slots of a pool, as the database has it. */
export interface PoolLoad {
  leases: Grouped<Lease>[];
  tickets: Grouped<Ticket>[];
  backlogs: Backlog[];
  /** What the durations of each group depend on. */
  groups: Map<string, DurationKey>;
  /** Open runs in other pools, of workspaces that have a quota. */
  openElsewhere: Map<string, number>;
}

interface ScorecardRow extends OfCase {
  id: string;
  workspace_id: string;
  class: WorkClass;
  concurrency: number | null;
  queued: number;
}

interface QueuedRow extends WithDemand {
  scorecard_id: string;
  pool_id: string;
}

const READ_MS = 2_000;
/** Scorecards whose queued runs count, the oldest. */
const MOST_SCORECARDS = 200;
/** Queued runs that are looked at, of all scorecards and of one: the others are taken to be like them. */
const MOST_LOOKED_AT = 10_000;
const MOST_OF_ONE = 500;

/** Counted by what has begun, which a large scorecard has least of for most of its life. */
const SCORECARDS = `
  SELECT s.id, s.workspace_id, s.class, s.concurrency, s.harness_pk, s.dataset_pk, s.total - (
      SELECT count(*) FROM runs
      WHERE scorecard_id = s.id AND (outcome IS NOT NULL OR open_attempt IS NOT NULL OR asked_at IS NOT NULL)
    ) AS queued
  FROM scorecards s
  WHERE s.finished_at IS NULL AND s.cancel_requested_at IS NULL AND s.paused_at IS NULL AND $1 = ANY (s.pool_ids)
  ORDER BY s.created_at, s.id LIMIT $2`;

const QUEUED = `
  SELECT s.id AS scorecard_id, r.pool_id, r.memory_mb, r.cpu_millicores, h.session_pool
  FROM unnest($1::text[]) AS s (id) CROSS JOIN LATERAL (
    SELECT * FROM runs
    WHERE scorecard_id = s.id AND outcome IS NULL AND open_attempt IS NULL AND asked_at IS NULL ORDER BY id LIMIT $2
  ) r JOIN harnesses h ON h.pk = r.harness_pk`;

const ELSEWHERE = `
  SELECT r.workspace_id AS workspace, count(*) AS open FROM runs r
  WHERE r.open_attempt IS NOT NULL AND r.workspace_id = ANY ($2) AND r.pool_id <> $1 GROUP BY 1`;

/** Reads all that a pool has to do, without asking its ledger: also where that does not run. */
export class PoolLoadStore {
  constructor(private readonly dataSource: DataSource) {}

  /** `limited`: the workspaces that have a quota. */
  read(poolId: string, limited: readonly string[]): Promise<PoolLoad> {
    return boundedRead(this.dataSource, READ_MS, async (db) => {
      const groups = new Map<string, DurationKey>();
      const groupOf = (of: OfCase): string => {
        const group = groupName(of);
        groups.set(group, durationKey(poolId, of));
        return group;
      };
      const leases = await liveLeases(db, poolId);
      const tickets = await waitingTickets(db, poolId, MAX_TICKETS);
      const scorecards = await rows<ScorecardRow>(db, SCORECARDS, [poolId, MOST_SCORECARDS]);
      const queued = await queuedBy(db, scorecards);
      const elsewhere = await rows<{ workspace: string; open: number }>(db, ELSEWHERE, [poolId, limited]);
      return {
        leases: leases.map(({ lease, of }) => ({ ...lease, group: groupOf(of) })),
        tickets: tickets.map(({ ticket, of }) => ({ ...ticket, group: groupOf(of) })),
        backlogs: scorecards.flatMap((scorecard) => {
          const backlog = toBacklog(scorecard, queued.get(scorecard.id) ?? [], poolId);
          return backlog ? [{ ...backlog, group: groupOf(scorecard) }] : [];
        }),
        groups,
        openElsewhere: new Map(elsewhere.map(({ workspace, open }) => [workspace, open])),
      };
    });
  }

  /** What the first cases that a filter selects would take. `fallback`: of those that declare nothing, per axis. */
  async demands(datasetPk: number, filter: CaseFilter | undefined, fallback: Demand, limit: number): Promise<Demand[]> {
    const found = await rows<DemandRow>(
      this.dataSource,
      `SELECT coalesce(memory_mb, $5::int) AS memory_mb, coalesce(cpu_millicores, $6::int) AS cpu_millicores
       FROM (${selectedCases()}) selected ORDER BY ordinal LIMIT $7`,
      [...filterParams(datasetPk, filter ?? {}), fallback.memoryMb ?? null, fallback.cpuMillicores ?? null, limit],
    );
    return found.map(demandOfRow);
  }

  /** What is called how, of all that durations depend on. */
  async names(keys: readonly DurationKey[]): Promise<SpecNames> {
    return {
      harnesses: await namesOf(
        this.dataSource,
        'harnesses',
        keys.map(({ harnessPk }) => harnessPk),
      ),
      datasets: await namesOf(
        this.dataSource,
        'datasets',
        keys.flatMap(({ datasetPk }) => datasetPk ?? []),
      ),
    };
  }
}

/** `id@version` by key. */
export interface SpecNames {
  harnesses: ReadonlyMap<number, string>;
  datasets: ReadonlyMap<number, string>;
}

export const groupName = ({ harness_pk, dataset_pk }: OfCase): string => `${harness_pk}/${dataset_pk ?? ''}`;

async function namesOf(
  db: Queryable,
  table: 'harnesses' | 'datasets',
  pks: readonly number[],
): Promise<Map<number, string>> {
  const sql = `SELECT pk, id || '@' || version AS name FROM ${table} WHERE pk = ANY ($1)`;
  const found = await rows<{ pk: number; name: string }>(db, sql, [pks]);
  return new Map(found.map(({ pk, name }) => [pk, name]));
}

async function queuedBy(db: Queryable, scorecards: readonly ScorecardRow[]): Promise<Map<string, QueuedRow[]>> {
  const ids = scorecards.filter(({ queued }) => queued > 0).map(({ id }) => id);
  const each = Math.min(MOST_OF_ONE, Math.floor(MOST_LOOKED_AT / Math.max(1, ids.length)));
  const found = new Map<string, QueuedRow[]>(ids.map((id) => [id, []]));
  for (const queued of await rows<QueuedRow>(db, QUEUED, [ids, each])) found.get(queued.scorecard_id)?.push(queued);
  return found;
}

/** Of a scorecard with several runtimes, the share of this pool is that among the runs that were looked at. */
function toBacklog(
  { id, workspace_id, class: workClass, concurrency, queued }: ScorecardRow,
  seen: readonly QueuedRow[],
  poolId: string,
): Omit<Backlog, 'group'> | undefined {
  const here = seen.filter(({ pool_id }) => pool_id === poolId);
  if (here.length === 0) return undefined;
  return {
    scorecard: id,
    workspace: workspace_id,
    class: workClass,
    count: Math.max(1, Math.round((queued * here.length) / seen.length)),
    demands: here.map(ticketDemand),
    ...(concurrency !== null && { concurrency }),
  };
}
