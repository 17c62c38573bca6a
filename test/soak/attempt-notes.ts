import type { E2ePlatform } from '../e2e/platform.js';
import { type JobNote, uptime } from './job-ledger.js';

interface AttemptRow {
  run_id: string;
  attempt: number;
  workspace: string;
  pool: string;
  memory_mb: number | null;
  opened_ago: number;
  closed_ago: number | null;
}

/**
 * What jobs would note if each were as long as its attempt: a slot is held from the row's first moment to its last,
 * before the job starts and after it ends.
 */
export async function attemptNotes(platform: E2ePlatform): Promise<JobNote[]> {
  const rows = await platform.sql<AttemptRow>(
    `SELECT a.run_id, a.attempt, r.workspace_id AS workspace, p.runtime_id AS pool, a.memory_mb,
       extract(epoch FROM now() - opened_at)::float8 AS opened_ago,
       extract(epoch FROM now() - closed_at)::float8 AS closed_ago
     FROM attempts a JOIN runs r ON r.id = a.run_id JOIN pools p ON p.id = a.pool_id`,
  );
  const now = uptime();
  const notes = rows.flatMap(({ run_id: runId, attempt, workspace, pool, memory_mb, opened_ago, closed_ago }) => {
    const note = { runId, attempt, workspace, pool, memoryMb: memory_mb ?? 0 };
    const start: JobNote = { ...note, what: 'start', at: now - opened_ago };
    return closed_ago === null ? [start] : [start, { ...note, what: 'end' as const, at: now - closed_ago }];
  });
  return notes.sort((one, other) => one.at - other.at);
}
