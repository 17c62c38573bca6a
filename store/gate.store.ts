import type { DataSource } from 'typeorm';
import type { StoppedEarly } from '../contracts/early-stop.js';
import type { GateOverride, GateResult, GateSummary, GateVerdict, SpokenOverride } from '../contracts/gate.js';
import { auditWithin, noteAudit } from './audit-draft.js';
import { type Creation, claimKey, type IdempotencyKey } from './idempotency.store.js';
import { row, rows, transaction } from './sql.js';

export type NewGate = Pick<GateResult, 'id' | 'verdict' | 'reasons' | 'evidence' | 'policy' | 'by'>;

export interface GateFilter {
  candidate?: string;
  /** Id of the last one before. */
  after?: string;
  limit: number;
}

interface GateRow {
  id: string;
  verdict: GateVerdict;
  result: Pick<GateResult, 'reasons' | 'evidence' | 'policy'>;
  created_by: string;
  created_at: Date;
  overrides: SpokenOverride[];
}

interface ListedRow extends Pick<GateRow, 'id' | 'verdict' | 'created_by' | 'created_at'> {
  candidate: string;
  baseline: string | null;
  override: SpokenOverride | null;
  reasons: GateSummary['reasons'];
  policy: GateSummary['policy'];
}

const COLUMNS = 'id, verdict, result, created_by, created_at, overrides';

/** Verdicts of gates, and what people said against them. */
export class GateStore {
  constructor(private readonly dataSource: DataSource) {}

  insert(workspaceId: string, gate: NewGate, idempotencyKey?: IdempotencyKey): Promise<Creation> {
    const { id, verdict, reasons, evidence, policy, by } = gate;
    return transaction(this.dataSource, async (db) => {
      const earlier = idempotencyKey && (await claimKey(db, workspaceId, idempotencyKey, id));
      if (earlier) return earlier;
      await rows(
        db,
        `INSERT INTO gates (id, workspace_id, candidate, baseline, policy, verdict, result, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [
          id,
          workspaceId,
          evidence.candidate.id,
          evidence.baseline?.id ?? null,
          policy.ref,
          verdict,
          JSON.stringify({ reasons, evidence, policy }),
          by,
        ],
      );
      await auditWithin(db, { object: id });
      return { kind: 'created', id };
    });
  }

  async find(workspaceId: string, id: string): Promise<GateResult | undefined> {
    const sql = `SELECT ${COLUMNS} FROM gates WHERE workspace_id = $1 AND id = $2`;
    const found = await row<GateRow>(this.dataSource, sql, [workspaceId, id]);
    return found && toResult(found);
  }

  /** Newest first. */
  async list(workspaceId: string, { candidate, after, limit }: GateFilter): Promise<GateSummary[]> {
    const found = await rows<ListedRow>(
      this.dataSource,
      `SELECT id, candidate, baseline, verdict, created_by, created_at, overrides -> -1 AS override,
         jsonb_path_query_array(result, '$.reasons[*].code') AS reasons, (result -> 'policy') - 'rules' AS policy
       FROM gates WHERE workspace_id = $1 AND ($2::text IS NULL OR candidate = $2)
         AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
      [workspaceId, candidate ?? null, after ?? null, limit],
    );
    return found.map(toSummary);
  }

  /** Adds somebody's word; the same word of the same person again changes nothing. Absent: there is no such gate. */
  override(
    workspaceId: string,
    id: string,
    { verdict, reason }: GateOverride,
    by: string,
  ): Promise<GateResult | undefined> {
    const said = { verdict, reason, by };
    return transaction(this.dataSource, async (db) => {
      const sql = `SELECT ${COLUMNS} FROM gates WHERE workspace_id = $1 AND id = $2 FOR UPDATE`;
      const found = await row<GateRow>(db, sql, [workspaceId, id]);
      if (!found) return undefined;
      const last = found.overrides.at(-1);
      noteAudit({ object: id });
      if (last?.verdict === verdict && last.reason === reason && last.by === by) return toResult(found);
      const overrides = [...found.overrides, { ...said, at: new Date().toISOString() }];
      await rows(db, 'UPDATE gates SET overrides = $2 WHERE id = $1', [id, JSON.stringify(overrides)]);
      await auditWithin(db, { object: id });
      return toResult({ ...found, overrides });
    });
  }

  /** Why a scorecard was stopped early, by the rules with this hash and against this baseline; else nothing. */
  async stop(scorecardId: string, policyHash: string, baseline: string | undefined): Promise<StoppedEarly | undefined> {
    const found = await row<{ stopped_early: StoppedEarly }>(
      this.dataSource,
      `SELECT stopped_early FROM scorecards WHERE id = $1 AND stopped_early IS NOT NULL
         AND early_stop #>> '{policy,hash}' = $2 AND early_stop ->> 'baseline' IS NOT DISTINCT FROM $3::text`,
      [scorecardId, policyHash, baseline ?? null],
    );
    return found?.stopped_early;
  }
}

function toResult({ id, verdict, result, created_by: by, created_at, overrides }: GateRow): GateResult {
  const { reasons, evidence, policy } = result;
  const override = overrides.at(-1) ?? null;
  const effective = override?.verdict ?? verdict;
  return {
    id,
    verdict,
    effective,
    reasons,
    evidence,
    policy,
    override,
    overrides,
    by,
    createdAt: created_at.toISOString(),
  };
}

function toSummary({ created_by: by, created_at, ...listed }: ListedRow): GateSummary {
  const effective = listed.override?.verdict ?? listed.verdict;
  return { ...listed, effective, reasons: [...new Set(listed.reasons)], by, createdAt: created_at.toISOString() };
}
