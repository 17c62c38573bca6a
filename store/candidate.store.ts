import type { DataSource } from 'typeorm';
import { limitsAt } from '../policy/admission/limits.js';
import { groupBy } from '../policy/grouping.js';
import type { Candidate } from '../policy/placement.js';
import { latestOf } from '../policy/versions.js';
import { DIAL_COLUMNS, type DialRow, dialOfRow } from './dial-row.js';
import {
  type RegisteredRuntime,
  RUNTIME_COLUMNS,
  RUNTIME_TABLES,
  type RuntimeRow,
  registeredRuntime,
} from './runtime-row.js';
import { isVisible, KNOWN, type KnownVersion } from './spec-ref.js';
import { rows } from './sql.js';

/** A runtime that work may be placed on, with what is left of it. */
export type CandidateRuntime = RegisteredRuntime & Candidate;

interface CandidateRow extends RuntimeRow, DialRow {
  used_slots: number;
  used_memory_mb: number;
  used_cpu_millicores: number;
}

/** Runs of young scorecards that have not asked for a slot yet, as far as they are counted. */
const MOST_QUEUED = 10_000;

/** What holds a slot of pool `p`, waits for one, or was submitted a moment ago and is about to. */
const LOAD = `
  SELECT count(*) AS used_slots, coalesce(sum(memory_mb), 0) AS used_memory_mb,
    coalesce(sum(cpu_millicores), 0) AS used_cpu_millicores
  FROM (
    SELECT memory_mb, cpu_millicores FROM attempts WHERE pool_id = p.id AND closed_at IS NULL
    UNION ALL
    SELECT memory_mb, cpu_millicores FROM runs
    WHERE pool_id = p.id AND asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL
    UNION ALL
    (SELECT r.memory_mb, r.cpu_millicores FROM scorecards s JOIN runs r ON r.scorecard_id = s.id
     WHERE s.finished_at IS NULL AND s.created_at > now() - interval '30 seconds' AND p.id = ANY (s.pool_ids)
       AND r.pool_id = p.id AND r.asked_at IS NULL AND r.outcome IS NULL
     LIMIT ${MOST_QUEUED})
  ) taken`;

/** Finds the runtimes that work may be placed on. */
export class CandidateStore {
  constructor(private readonly dataSource: DataSource) {}

  /** The latest version of each runtime that a workspace sees and that takes new work, by id. */
  async of(workspaceId: string): Promise<CandidateRuntime[]> {
    const known = await rows<KnownVersion>(
      this.dataSource,
      `SELECT ${KNOWN} FROM runtimes t
       WHERE t.confirmed_at IS NOT NULL AND t.deprecated_at IS NULL AND ${isVisible('runtimes')}`,
      [workspaceId],
    );
    const latest = [...groupBy(known, ({ id }) => id).values()].flatMap((versions) => latestOf(versions)?.pk ?? []);
    const found = await rows<CandidateRow>(
      this.dataSource,
      `SELECT ${RUNTIME_COLUMNS}, ${DIAL_COLUMNS}, load.* FROM ${RUNTIME_TABLES} CROSS JOIN LATERAL (${LOAD}) load
       WHERE t.pk = ANY ($1) ORDER BY t.id COLLATE "C"`,
      [latest],
    );
    const now = Date.now();
    return found
      .filter(({ is_draining }) => !is_draining)
      .map((each) => {
        const registered = registeredRuntime(each, true);
        const { used_slots: slots, used_memory_mb: memoryMb, used_cpu_millicores: cpuMillicores } = each;
        return {
          ...registered,
          inForce: limitsAt({ ...registered, dial: dialOfRow(each), workspaces: {}, pausedScorecards: [] }, now),
          load: { slots, memoryMb, cpuMillicores },
        };
      });
  }
}
