import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateRuns0000000000006 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- One per runtime id, whatever its version: it is one cluster.
      CREATE TABLE pools (
        id text PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        runtime_id text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('local', 'nomad', 'k8s')),
        -- Raised whenever a lost ledger is rebuilt: grants of earlier epochs are void.
        epoch bigint NOT NULL DEFAULT 0,
        -- Raised whenever the limits below change; they are those of the latest version.
        envelope_version bigint NOT NULL DEFAULT 1,
        slots integer NOT NULL CHECK (slots > 0),
        memory_mb integer CHECK (memory_mb > 0),
        cpu_millicores integer CHECK (cpu_millicores > 0),
        UNIQUE (workspace_id, runtime_id)
      );

      -- settled: outcome set; running: open_attempt set; waiting: asked_at set; queued: none of them.
      CREATE TABLE runs (
        id text COLLATE "C" PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        scorecard_id text COLLATE "C" REFERENCES scorecards,
        -- Position in the scorecard, from 0; NULL for a single run.
        ordinal integer,
        case_id text COLLATE "C" NOT NULL,
        trial integer NOT NULL DEFAULT 1,
        -- The case: one of a dataset, or its own.
        dataset_pk bigint REFERENCES datasets,
        case_ordinal integer,
        own_case jsonb,
        harness_pk bigint NOT NULL REFERENCES harnesses,
        params jsonb,
        pool_id text NOT NULL REFERENCES pools,
        runtime_version text NOT NULL,
        class text NOT NULL CHECK (class IN ('interactive', 'batch')),
        memory_mb integer,
        cpu_millicores integer,
        infra_retries integer NOT NULL,
        metadata jsonb,
        created_at timestamptz NOT NULL DEFAULT now(),
        -- Outbox of single runs.
        started_at timestamptz,
        asked_at timestamptz,
        -- The workflow to be told of a grant: a window, or the case itself. NULL during back-off: there is no ticket.
        asked_by text,
        open_attempt integer,
        cancel_requested_at timestamptz,
        outcome text CHECK (outcome IN ('passed', 'failed', 'errored', 'cancelled')),
        error_class text CHECK (error_class IN ('infra', 'config', 'harness', 'agent')),
        error_code text,
        reason text,
        scores jsonb,
        settled_attempt integer,
        settled_at timestamptz,
        CHECK ((outcome = 'errored') = (error_class IS NOT NULL AND error_code IS NOT NULL) OR outcome IS NULL),
        CHECK (outcome IS NULL OR open_attempt IS NULL),
        CHECK ((outcome IS NULL) = (settled_at IS NULL)),
        CHECK ((own_case IS NULL) <> (dataset_pk IS NULL)),
        UNIQUE (scorecard_id, ordinal)
      );
      CREATE INDEX runs_open ON runs (workspace_id) WHERE open_attempt IS NOT NULL;
      CREATE INDEX runs_waiting ON runs (pool_id, asked_at)
        WHERE asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL;
      CREATE INDEX runs_placeless ON runs (id) WHERE scorecard_id IS NULL AND outcome IS NULL AND open_attempt IS NULL;
      CREATE INDEX runs_unstarted ON runs (created_at) WHERE scorecard_id IS NULL AND started_at IS NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
