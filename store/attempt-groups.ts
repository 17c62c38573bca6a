import type { DataSource } from 'typeorm';
import type { AttemptEnd } from '../contracts/attempt.js';
import type { JobRecord } from '../policy/record.js';
import type { Verdict } from '../policy/results.js';
import { encodeRecord } from './record-json.js';
import { retrying, rows } from './sql.js';
import { storableJson, storableText } from './storable.js';
import { verdictParams } from './verdict-columns.js';

export interface AttemptKey {
  runId: string;
  attempt: number;
}

export const keyOf = ({ runId, attempt }: AttemptKey): string => `${runId}/${attempt}`;

/** Locks attempts in the order of their keys, so that groups which overlap wait for each other instead of deadlocking. */
const LOCKED_ATTEMPTS = `SELECT a.run_id, a.attempt FROM attempts a
  JOIN unnest($1::text[], $2::int[]) AS k(run_id, attempt) ON a.run_id = k.run_id AND a.attempt = k.attempt
  ORDER BY a.run_id, a.attempt FOR NO KEY UPDATE OF a`;

/** Runs a statement on a group whose RETURNING gives positions, from 1; which of the group it changed. */
async function changed(dataSource: DataSource, sql: string, group: readonly unknown[][]): Promise<boolean[]> {
  const columns = (group[0] ?? []).map((_, column) => group.map((params) => params[column]));
  const found = await retrying(() => rows<{ n: number }>(dataSource, sql, columns));
  const positions = new Set(found.map(({ n }) => n));
  return group.map((_, at) => positions.has(at + 1));
}

export interface AttemptSettled extends AttemptKey {
  verdict: Verdict;
}

/** Whether each verdict was written: its attempt is still the run's open one. */
export function settleGroup(dataSource: DataSource, group: readonly AttemptSettled[]): Promise<boolean[]> {
  return changed(
    dataSource,
    `WITH locked AS MATERIALIZED (SELECT id FROM runs WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE)
     UPDATE runs r SET outcome = g.outcome, error_class = g.error_class, error_code = g.error_code, reason = g.reason,
       scores = g.scores::jsonb, settled_at = now(), open_attempt = NULL, settled_attempt = g.attempt
     FROM locked JOIN unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[])
       WITH ORDINALITY AS g(id, outcome, error_class, error_code, reason, scores, attempt, n) ON g.id = locked.id
     WHERE r.id = g.id AND r.open_attempt = g.attempt AND r.outcome IS NULL RETURNING g.n`,
    group.map(({ runId, attempt, verdict }) => [...verdictParams(runId, verdict), attempt]),
  );
}

export interface AttemptConfirmed extends AttemptKey {
  provenance: Record<string, unknown>;
}

/** Whether each was noted: it is not closed. */
export function confirmGroup(dataSource: DataSource, group: readonly AttemptConfirmed[]): Promise<boolean[]> {
  return changed(
    dataSource,
    `WITH locked AS MATERIALIZED (${LOCKED_ATTEMPTS})
     UPDATE attempts a SET submitted_at = coalesce(a.submitted_at, now()), provenance = a.provenance || g.provenance::jsonb
     FROM locked l JOIN unnest($1::text[], $2::int[], $3::text[]) WITH ORDINALITY AS g(run_id, attempt, provenance, n)
       ON g.run_id = l.run_id AND g.attempt = l.attempt
     WHERE a.run_id = g.run_id AND a.attempt = g.attempt AND a.closed_at IS NULL RETURNING g.n`,
    group.map(({ runId, attempt, provenance }) => [runId, attempt, storableJson(provenance)]),
  );
}

export interface AttemptEnded extends AttemptKey {
  end: AttemptEnd;
  record?: JobRecord;
}

/** The first end stands, except that a record replaces an end without one. */
export function recordEndGroup(dataSource: DataSource, group: readonly AttemptEnded[]): Promise<boolean[]> {
  return changed(
    dataSource,
    `WITH locked AS MATERIALIZED (${LOCKED_ATTEMPTS})
     UPDATE attempts a SET end_kind = g.end_kind, error_code = g.error_code, error_message = g.error_message,
       record = g.record::jsonb, answer = g.answer
     FROM locked l JOIN unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[])
       WITH ORDINALITY AS g(run_id, attempt, end_kind, error_code, error_message, record, answer, n)
       ON g.run_id = l.run_id AND g.attempt = l.attempt
     WHERE a.run_id = g.run_id AND a.attempt = g.attempt
       AND a.record IS NULL AND (a.end_kind IS NULL OR g.record IS NOT NULL) RETURNING g.n`,
    group.map(({ runId, attempt, end, record }) => {
      const failure = end.kind === 'failed' ? end.failure : undefined;
      const message = end.kind === 'silent' ? end.detail : failure?.message;
      const encoded = record && encodeRecord(record);
      return [
        runId,
        attempt,
        end.kind,
        failure?.code ?? null,
        message === undefined ? null : storableText(message),
        encoded?.json ?? null,
        encoded?.answer ?? null,
      ];
    }),
  );
}

export function closeGroup(dataSource: DataSource, group: readonly AttemptKey[]): Promise<boolean[]> {
  return changed(
    dataSource,
    `WITH locked AS MATERIALIZED (${LOCKED_ATTEMPTS})
     UPDATE attempts a SET closed_at = coalesce(a.closed_at, now())
     FROM locked l JOIN unnest($1::text[], $2::int[]) WITH ORDINALITY AS g(run_id, attempt, n)
       ON g.run_id = l.run_id AND g.attempt = l.attempt
     WHERE a.run_id = g.run_id AND a.attempt = g.attempt RETURNING g.n`,
    group.map(({ runId, attempt }) => [runId, attempt]),
  );
}
