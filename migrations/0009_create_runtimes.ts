import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateRuntimes0000000000009 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE runtimes (
        pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        id text NOT NULL,
        version text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('local', 'nomad', 'k8s')),
        content jsonb NOT NULL,
        content_hash text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (workspace_id, id, version)
      );

      -- The one host that serves local runtimes.
      CREATE TABLE local_host (
        "only" boolean PRIMARY KEY DEFAULT true CHECK ("only"),
        host_id text NOT NULL,
        claimed_at timestamptz NOT NULL DEFAULT now()
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
