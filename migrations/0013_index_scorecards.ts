import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IndexScorecards0000000000013 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- The pools its runs wait in, so that planning reads none of the runs.
      ALTER TABLE scorecards ADD COLUMN pool_ids text[] NOT NULL DEFAULT '{}';
      UPDATE scorecards s SET pool_ids = ARRAY(SELECT DISTINCT pool_id FROM runs WHERE scorecard_id = s.id);
      ALTER TABLE scorecards ALTER COLUMN pool_ids DROP DEFAULT;

      -- The runs counted once, when it finished; NULL: they are counted where they are.
      ALTER TABLE scorecards ADD COLUMN tally jsonb;

      -- In the order in which runs are locked.
      CREATE INDEX runs_unsettled ON runs (scorecard_id, id) WHERE outcome IS NULL;
      -- All but the queued ones, of which a large scorecard has most for most of its life.
      CREATE INDEX runs_begun ON runs (scorecard_id, outcome, ordinal)
        WHERE outcome IS NOT NULL OR open_attempt IS NOT NULL OR asked_at IS NOT NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
