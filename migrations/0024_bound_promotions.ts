import type { MigrationInterface, QueryRunner } from 'typeorm';

export class BoundPromotions0000000000024 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- How many of a workspace are wanted before its others.
      CREATE INDEX runs_promoted ON runs (workspace_id) WHERE promoted_at IS NOT NULL AND outcome IS NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
