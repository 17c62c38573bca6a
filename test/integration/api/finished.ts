import type { JobRecord } from '../../../policy/record.js';
import { encodeRecord } from '../../../store/record-json.js';
import { aRecord } from '../../builders.js';
import type { Api } from './server.js';

/**
 * Ends the open runs of a scorecard, and then itself, with these outcomes in turn: `passed`, `errored/<class>/<code>`.
 * Each has one attempt, and its record; `attempt`: the number of that which settled it.
 */
export async function finish(
  { database }: Api,
  id: string,
  outcomes: readonly string[],
  { attempt = 1, records = [aRecord()] }: { attempt?: number; records?: readonly JobRecord[] } = {},
): Promise<void> {
  const sql = (statement: string, params: unknown[]) => database.dataSource.query(statement, params);
  const open = await sql('SELECT id FROM runs WHERE scorecard_id = $1 AND outcome IS NULL ORDER BY ordinal', [id]);
  for (const [i, run] of open.entries()) {
    const [outcome, errorClass = null, code = null] = (outcomes[i % outcomes.length] ?? 'passed').split('/');
    const { json, answer } = encodeRecord(records[i % records.length] ?? aRecord());
    await sql(
      `INSERT INTO attempts (run_id, attempt, pool_id, holder, seq, allocation, nonce, closed_at, end_kind, record, answer)
       SELECT id, $2::int, pool_id, id, (SELECT coalesce(max(seq), 0) + 1 FROM attempts), id, 'cafe', now(), 'record',
         $3::jsonb, $4 FROM runs WHERE id = $1`,
      [run.id, attempt, json, answer],
    );
    await sql(
      `UPDATE runs SET outcome = $2, error_class = $3, error_code = $4, settled_at = now(), settled_attempt = $5 WHERE id = $1`,
      [run.id, outcome, errorClass, code, attempt],
    );
  }
  await sql('UPDATE scorecards SET finished_at = now() WHERE id = $1', [id]);
}
