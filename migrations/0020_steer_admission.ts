import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SteerAdmission0000000000020 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Its share under contention against other workspaces.
      ALTER TABLE workspaces ADD COLUMN weight double precision NOT NULL DEFAULT 1 CHECK (weight BETWEEN 0.01 AND 1000);

      -- What somebody set above the spec of the runtime; all of it ends at dial_until.
      ALTER TABLE pools
        ADD COLUMN dial_mode text NOT NULL DEFAULT 'open' CHECK (dial_mode IN ('open', 'paused', 'draining')),
        ADD COLUMN dial_slots integer CHECK (dial_slots > 0),
        ADD COLUMN dial_memory_mb integer CHECK (dial_memory_mb > 0),
        ADD COLUMN dial_cpu_millicores integer CHECK (dial_cpu_millicores > 0),
        ADD COLUMN dial_until timestamptz,
        ADD COLUMN dial_reason text,
        ADD COLUMN dial_by text;

      -- Wanted before everything else of its workspace.
      ALTER TABLE runs ADD COLUMN promoted_at timestamptz;

      -- Waits until somebody resumes it.
      ALTER TABLE scorecards
        ADD COLUMN paused_at timestamptz,
        ADD COLUMN pause_reason text;
      CREATE INDEX scorecards_paused ON scorecards (id) WHERE paused_at IS NOT NULL AND finished_at IS NULL;

      -- The live pool that a harness takes a session from; NULL: none.
      ALTER TABLE harnesses ADD COLUMN session_pool text
        GENERATED ALWAYS AS (CASE WHEN content ? 'acquire' THEN workspace_id || '/' || id END) STORED;

      -- For caps on how much may wait.
      CREATE INDEX runs_unsettled_by_workspace ON runs (workspace_id) WHERE outcome IS NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
