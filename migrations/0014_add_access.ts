import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddAccess0000000000014 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- What every workspace sees; the operator acts in it.
      INSERT INTO workspaces (id) VALUES ('_shared') ON CONFLICT DO NOTHING;

      -- An invitation by e-mail address has that as its subject until the first token with the address takes it.
      ALTER TABLE members
        ADD COLUMN invited_by text NOT NULL,
        ADD COLUMN email text,
        ADD UNIQUE (workspace_id, email);
      CREATE INDEX members_by_subject ON members (subject);

      -- In the order in which they were made.
      ALTER TABLE api_keys ADD COLUMN seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE;
      CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, seq DESC);

      -- Repositories whose workflows are the CI of a workspace.
      CREATE TABLE ci_bindings (
        id text PRIMARY KEY,
        seq bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        workspace_id text NOT NULL REFERENCES workspaces,
        -- owner/name, in lower case.
        repository text NOT NULL,
        -- What the token has to say besides; NULL: anything.
        ref text,
        environment text,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE NULLS NOT DISTINCT (workspace_id, repository, ref, environment)
      );
      CREATE INDEX ci_bindings_by_repository ON ci_bindings (repository);

      -- Who submitted it. NULL: it was before anybody was asked, or is a run of a scorecard, which says it.
      ALTER TABLE scorecards ADD COLUMN created_by text;
      ALTER TABLE runs ADD COLUMN created_by text;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
