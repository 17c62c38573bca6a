import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DeleteScorecards0000000000032 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE scorecards
        ADD COLUMN deleted_at timestamptz,
        -- A subject; 'retention' where nobody asked.
        ADD COLUMN deleted_by text,
        -- When it is gone for good. Until then it can be restored.
        ADD COLUMN purge_at timestamptz,
        -- Since then its age counts anew.
        ADD COLUMN restored_at timestamptz,
        -- Since when the logs of its runs are gone for everybody; the last of them once it has none.
        ADD COLUMN logs_purged_at timestamptz,
        ADD COLUMN has_logs boolean NOT NULL DEFAULT true,
        -- What it came from may be gone before it.
        DROP CONSTRAINT scorecards_retry_of_fkey,
        DROP CONSTRAINT scorecards_regrade_of_fkey,
        -- How far it is. Of one that is open, its runs say whether it is queued or runs.
        ADD COLUMN phase text NOT NULL GENERATED ALWAYS AS (
          CASE
            WHEN finished_at IS NOT NULL THEN CASE WHEN cancel_requested_at IS NULL THEN 'completed' ELSE 'cancelled' END
            WHEN cancel_requested_at IS NOT NULL THEN 'cancelling'
            WHEN paused_at IS NOT NULL THEN 'paused'
            ELSE 'open'
          END) STORED;
      CREATE INDEX scorecards_by_phase ON scorecards (workspace_id, phase, id DESC);
      CREATE INDEX scorecards_of_dataset ON scorecards (dataset_pk, id DESC);
      CREATE INDEX scorecards_to_purge ON scorecards (purge_at) WHERE purge_at IS NOT NULL;
      CREATE INDEX scorecards_by_age ON scorecards (workspace_id, coalesce(restored_at, finished_at))
        WHERE finished_at IS NOT NULL AND deleted_at IS NULL;
      CREATE INDEX scorecards_with_logs ON scorecards (workspace_id, finished_at)
        WHERE finished_at IS NOT NULL AND logs_purged_at IS NULL;
      CREATE INDEX scorecards_losing_logs ON scorecards (logs_purged_at) WHERE logs_purged_at IS NOT NULL AND has_logs;

      -- Days after its end that a scorecard, and the logs of its runs, are kept. NULL: for ever.
      ALTER TABLE workspaces
        ADD COLUMN results_days integer CHECK (results_days > 0),
        ADD COLUMN logs_days integer CHECK (logs_days > 0),
        ADD CHECK (logs_days <= results_days);
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
