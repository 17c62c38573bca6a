import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateWorkspaces0000000000001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE workspaces (
        id text PRIMARY KEY,
        -- Quota: open runs over all runtimes at once; NULL means none.
        max_running integer CHECK (max_running > 0),
        created_at timestamptz NOT NULL DEFAULT now()
      );
      INSERT INTO workspaces (id) VALUES ('default');

      CREATE TABLE members (
        workspace_id text NOT NULL REFERENCES workspaces,
        subject text NOT NULL,
        role text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'ci')),
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, subject)
      );

      CREATE TABLE api_keys (
        id text PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        name text NOT NULL,
        hash bytea NOT NULL UNIQUE,
        role text NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'ci')),
        scope text NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
        created_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        last_used_at timestamptz,
        revoked_at timestamptz
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
