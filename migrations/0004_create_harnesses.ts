import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateHarnesses0000000000004 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE harnesses (
        pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        id text NOT NULL,
        version text NOT NULL,
        content jsonb NOT NULL,
        content_hash text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (workspace_id, id, version)
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
