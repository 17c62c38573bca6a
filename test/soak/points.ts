import { mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import type { E2ePlatform } from '../e2e/platform.js';
import { liveProcesses } from './process-table.js';

/** Where a run is in its life. */
export const POINTS = ['queued', 'waiting', 'granted', 'dispatching', 'running', 'settling', 'backing off'] as const;
export type Point = (typeof POINTS)[number];

export interface Seen {
  id: string;
  scorecard: string | null;
  workspace: string;
  point: Point;
  /** Of its open attempt. */
  allocation: string | null;
}

/** Runs whose case is not over, and what each was at when this was read. */
export async function unsettled(platform: E2ePlatform, ledger: string): Promise<Seen[]> {
  const leases = await heldBy(platform, ledger);
  const seen = await platform.sql<Seen>(
    `SELECT r.id, r.scorecard_id AS scorecard, r.workspace_id AS workspace, a.allocation,
       CASE
         WHEN a.end_kind IS NOT NULL OR r.outcome IS NOT NULL THEN 'settling'
         WHEN a.submitted_at IS NOT NULL THEN 'running'
         WHEN r.open_attempt IS NOT NULL THEN 'dispatching'
         WHEN EXISTS (SELECT FROM attempts WHERE run_id = r.id) THEN 'backing off'
         WHEN r.asked_at IS NOT NULL THEN 'waiting'
         ELSE 'queued'
       END AS point
     FROM runs r LEFT JOIN attempts a ON a.run_id = r.id AND a.closed_at IS NULL
     WHERE r.outcome IS NULL OR a.run_id IS NOT NULL ORDER BY r.id`,
  );
  return seen.map((run) =>
    run.point === 'waiting' && leases.has(`case:${run.id}`) ? { ...run, point: 'granted' } : run,
  );
}

async function heldBy(platform: E2ePlatform, ledger: string): Promise<Set<string>> {
  const { workflow } = await platform.temporal();
  const leases = await workflow.getHandle(ledger).query<{ holder: string }[]>('heldLeases');
  return new Set(leases.map(({ holder }) => holder));
}

/** A job that its host loses: what ran is gone, and so is what it had written. Returns whether there was one. */
export function loseJob({ dir }: E2ePlatform, allocation: string): boolean {
  const jobs = path.join(dir, 'data', 'state', 'jobs');
  const isOf = (command: string): boolean => command.includes(`${jobs}/${allocation}/`);
  const processes = liveProcesses().filter(
    ({ command, environment }) => environment.EVERDICT_ATTEMPT === allocation || isOf(command),
  );
  mkdirSync(path.join(dir, 'lost'), { recursive: true });
  try {
    for (const { pid } of processes) process.kill(pid, 'SIGKILL');
    renameSync(path.join(jobs, allocation), path.join(dir, 'lost', allocation));
    return processes.length > 0;
  } catch {
    // It has just ended.
    return false;
  }
}
