import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NoteAcceptance0000000000018 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- When the member first acted in the workspace. Until then it is somebody's word, and binds nobody.
      ALTER TABLE members ADD COLUMN accepted_at timestamptz;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
