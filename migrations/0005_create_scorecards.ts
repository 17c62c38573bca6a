import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateScorecards0000000000005 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE scorecards (
        -- Time-ordered.
        id text COLLATE "C" PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        dataset_pk bigint NOT NULL REFERENCES datasets,
        harness_pk bigint NOT NULL REFERENCES harnesses,
        -- id@version as resolved at submit; NULL where each case names its own target.
        runtime text,
        class text NOT NULL CHECK (class IN ('interactive', 'batch')),
        trials integer NOT NULL DEFAULT 1,
        concurrency integer,
        infra_retries integer NOT NULL,
        params jsonb NOT NULL DEFAULT '{}',
        metadata jsonb NOT NULL DEFAULT '{}',
        total integer NOT NULL CHECK (total > 0),
        created_at timestamptz NOT NULL DEFAULT now(),
        -- Outbox: when Temporal confirmed the root workflow.
        started_at timestamptz,
        cancel_requested_at timestamptz,
        -- Every run settled and nothing of them left on any cluster.
        finished_at timestamptz
      );
      CREATE INDEX scorecards_by_workspace ON scorecards (workspace_id, id DESC);
      CREATE INDEX scorecards_unstarted ON scorecards (created_at) WHERE started_at IS NULL;
      CREATE INDEX scorecards_unfinished ON scorecards (created_at) WHERE finished_at IS NULL;

      CREATE TABLE idempotency_keys (
        workspace_id text NOT NULL REFERENCES workspaces,
        route text NOT NULL,
        key text NOT NULL,
        body_hash text NOT NULL,
        resource_id text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, route, key)
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
