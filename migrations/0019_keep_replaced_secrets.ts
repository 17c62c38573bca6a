import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KeepReplacedSecrets0000000000019 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- What jobs may still print that were given it before it was set anew or deleted. Sealed as it was.
      CREATE TABLE replaced_secrets (
        version bigint PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        name text NOT NULL,
        use text NOT NULL,
        bindings text[] NOT NULL,
        sealed bytea NOT NULL,
        key_id text NOT NULL,
        replaced_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX replaced_secrets_by_name ON replaced_secrets (workspace_id, name);
      CREATE INDEX replaced_secrets_by_age ON replaced_secrets (replaced_at);
      CREATE INDEX secrets_by_version ON secrets (version);

      CREATE FUNCTION keep_replaced_secret() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO replaced_secrets (version, workspace_id, name, use, bindings, sealed, key_id)
        VALUES (OLD.version, OLD.workspace_id, OLD.name, OLD.use, OLD.bindings, OLD.sealed, OLD.key_id);
        RETURN NULL;
      END $$;
      -- Sealing a value with another key is no new version of it.
      CREATE TRIGGER secrets_replaced AFTER UPDATE OF version OR DELETE ON secrets
        FOR EACH ROW WHEN (OLD.use IN ('env', 'git')) EXECUTE FUNCTION keep_replaced_secret();
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
