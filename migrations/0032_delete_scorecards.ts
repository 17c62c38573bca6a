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
        ADD COLUMN logs_purged_at timestamptz;
      CREATE INDEX scorecards_to_purge ON scorecards (purge_at) WHERE purge_at IS NOT NULL;

      -- Days after its end that a scorecard, and the logs of its runs, are kept. NULL: for ever.
      ALTER TABLE workspaces
        ADD COLUMN results_days integer CHECK (results_days > 0),
        ADD COLUMN logs_days integer CHECK (logs_days > 0);
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
