import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NotePlacement0000000000026 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- What the cluster calls that which runs the attempt, and why it does not start it.
      ALTER TABLE attempts ADD COLUMN placed_as text, ADD COLUMN waiting text;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
