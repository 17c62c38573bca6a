import type { MigrationInterface, QueryRunner } from 'typeorm';

export class EndLimitsApart0000000000025 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- When the lower limits end; dial_until is the end of the mode alone.
      ALTER TABLE pools ADD COLUMN dial_limits_until timestamptz;
      UPDATE pools SET dial_limits_until = dial_until;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
