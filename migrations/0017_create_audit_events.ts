import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuditEvents0000000000017 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE audit_events (
        -- Time-ordered.
        id text COLLATE "C" PRIMARY KEY,
        at timestamptz NOT NULL,
        -- Refers to nothing: a trail outlives what it tells of. _shared also holds what belongs to no workspace.
        workspace_id text NOT NULL,
        subject text,
        role text,
        key_id text,
        action text NOT NULL,
        kind text NOT NULL,
        object text,
        source text NOT NULL,
        request_id text NOT NULL,
        status integer NOT NULL,
        code text,
        before_hash text,
        after_hash text
      );
      CREATE INDEX audit_events_of_workspace ON audit_events (workspace_id, id);

      CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'audit events are never changed'; END $$;
      CREATE TRIGGER audit_events_stay BEFORE UPDATE OR TRUNCATE ON audit_events
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
