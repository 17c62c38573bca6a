import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSecrets0000000000002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE secrets (
        workspace_id text NOT NULL REFERENCES workspaces,
        name text NOT NULL,
        use text NOT NULL CHECK (use IN ('cluster', 'registry', 'git', 'env')),
        -- Origins or hosts the value may be sent to.
        bindings text[] NOT NULL DEFAULT '{}',
        sealed bytea NOT NULL,
        key_id text NOT NULL,
        updated_by text NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, name)
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
