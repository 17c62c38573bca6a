import type { MigrationInterface, QueryRunner } from 'typeorm';

export class BoundDepth0000000000022 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- How many may wait is counted by scorecard; what is left are runs of their own. Others pay nothing for it.
      DROP INDEX runs_unsettled_by_workspace;
      CREATE INDEX runs_single_unsettled ON runs (workspace_id) WHERE scorecard_id IS NULL AND outcome IS NULL;

      -- When it was last resumed: attempts before that say nothing of it any more, and waiting began anew.
      ALTER TABLE scorecards ADD COLUMN resumed_at timestamptz;
      -- The last attempts of a scorecard that ended.
      CREATE INDEX attempts_ended ON attempts (split_part(run_id, '.', 1), closed_at DESC) WHERE closed_at IS NOT NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
