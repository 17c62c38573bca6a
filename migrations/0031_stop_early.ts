import type { MigrationInterface, QueryRunner } from 'typeorm';

export class StopEarly0000000000031 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      ALTER TABLE scorecards
        -- Under which rules, against which baseline and at which rate of error it may end early; resolved at submit.
        ADD COLUMN early_stop jsonb,
        -- That it did, and why. What had no outcome then was cancelled.
        ADD COLUMN stopped_early jsonb;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
