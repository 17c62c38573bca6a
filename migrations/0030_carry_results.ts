import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CarryResults0000000000030 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE scorecards
        ADD COLUMN retry_of text COLLATE "C" REFERENCES scorecards,
        ADD COLUMN regrade_of text COLLATE "C" REFERENCES scorecards,
        -- The re-roll ledger: numbers as they stood before results were left behind, oldest first.
        ADD COLUMN rerolls jsonb NOT NULL DEFAULT '[]',
        -- Only where answers are graded anew: graders of every case, or the dataset that has those of each, in place of
        -- those of its own dataset.
        ADD COLUMN graders jsonb,
        ADD COLUMN grading_dataset_pk bigint REFERENCES datasets,
        ADD CHECK (graders IS NULL OR grading_dataset_pk IS NULL);
      CREATE INDEX scorecards_by_retry ON scorecards (retry_of) WHERE retry_of IS NOT NULL;
      CREATE INDEX scorecards_by_regrade ON scorecards (regrade_of) WHERE regrade_of IS NOT NULL;

      -- The run that has the attempts, logs and answer of this one; NULL: it has them itself.
      ALTER TABLE runs
        ADD COLUMN carried_from text COLLATE "C" REFERENCES runs,
        -- An earlier result of the same case and trial was left behind: what passes now is no first attempt.
        ADD COLUMN is_rerolled boolean NOT NULL DEFAULT false;
      CREATE INDEX runs_by_origin ON runs (carried_from) WHERE carried_from IS NOT NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
