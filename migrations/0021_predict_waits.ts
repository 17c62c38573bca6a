import type { MigrationInterface, QueryRunner } from 'typeorm';

export class PredictWaits0000000000021 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- The latest of a harness, or of a harness and a dataset: how long their cases held a slot.
      CREATE INDEX scorecards_by_harness ON scorecards (harness_pk, id DESC);
      CREATE INDEX scorecards_by_dataset ON scorecards (harness_pk, dataset_pk, id DESC);
      CREATE INDEX runs_single_by_harness ON runs (harness_pk, id DESC) WHERE scorecard_id IS NULL;

      -- When some of the waiting runs were said to start, to compare with when they did.
      CREATE TABLE wait_predictions (
        run_id text COLLATE "C" PRIMARY KEY REFERENCES runs,
        predicted_at timestamptz NOT NULL DEFAULT now(),
        p50_at timestamptz NOT NULL,
        p90_at timestamptz NOT NULL CHECK (p90_at >= p50_at)
      );
      CREATE INDEX wait_predictions_by_age ON wait_predictions (predicted_at);
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
