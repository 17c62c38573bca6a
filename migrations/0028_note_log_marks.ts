import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NoteLogMarks0000000000028 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Where the log of the attempt can be read on, should its cluster throw the beginning away.
      ALTER TABLE attempts ADD COLUMN log_mark jsonb;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
