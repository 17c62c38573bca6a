import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddDeadlinesAndDecisions0000000000010 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- When every run that has no outcome is ended; NULL: never.
      ALTER TABLE scorecards ADD COLUMN deadline_at timestamptz;
      -- Who settled the run in place of its graders; NULL: nobody did.
      ALTER TABLE runs ADD COLUMN decided_by text, ADD CHECK (decided_by IS NULL OR outcome IS NOT NULL);
      CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
