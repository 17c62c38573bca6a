import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateDatasets0000000000003 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE datasets (
        pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        id text NOT NULL,
        version text NOT NULL,
        description text,
        tags text[] NOT NULL DEFAULT '{}',
        case_count integer NOT NULL,
        content_hash text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (workspace_id, id, version)
      );

      CREATE TABLE dataset_cases (
        dataset_pk bigint NOT NULL REFERENCES datasets ON DELETE CASCADE,
        ordinal integer NOT NULL,
        case_id text COLLATE "C" NOT NULL,
        tags text[] NOT NULL DEFAULT '{}',
        -- Declared by the case itself; a harness or runtime may add to it when a scorecard is made.
        target text,
        memory_mb integer,
        cpu_millicores integer,
        content jsonb NOT NULL,
        PRIMARY KEY (dataset_pk, ordinal),
        UNIQUE (dataset_pk, case_id)
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
