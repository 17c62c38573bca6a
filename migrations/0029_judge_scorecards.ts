import type { MigrationInterface, QueryRunner } from 'typeorm';

export class JudgeScorecards0000000000029 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Versions of gate policies; immutable like everything that is registered.
      CREATE TABLE gate_policies (
        pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        id text NOT NULL,
        version text NOT NULL,
        content jsonb NOT NULL,
        content_hash text NOT NULL,
        registered_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (workspace_id, id, version)
      );

      -- Verdicts of gates, with the rules they were given by. They outlive their scorecards.
      CREATE TABLE gates (
        -- Time-ordered.
        id text COLLATE "C" PRIMARY KEY,
        workspace_id text NOT NULL REFERENCES workspaces,
        candidate text COLLATE "C" NOT NULL,
        baseline text COLLATE "C",
        -- id@version; NULL: the rules came with the request.
        policy text,
        verdict text NOT NULL,
        result jsonb NOT NULL,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        -- What people said against it, oldest first: verdict, reason, by, at.
        overrides jsonb NOT NULL DEFAULT '[]'
      );
      CREATE INDEX gates_by_workspace ON gates (workspace_id, id DESC);
      CREATE INDEX gates_by_candidate ON gates (candidate, id DESC);

      -- Names that a workspace gives to scorecards it compares others with.
      CREATE TABLE baselines (
        workspace_id text NOT NULL REFERENCES workspaces,
        name text COLLATE "C" NOT NULL,
        scorecard_id text COLLATE "C" NOT NULL REFERENCES scorecards,
        pinned_by text NOT NULL,
        pinned_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (workspace_id, name)
      );
      CREATE INDEX baselines_by_scorecard ON baselines (scorecard_id);
      CREATE INDEX scorecards_by_metadata ON scorecards USING gin (metadata jsonb_path_ops);
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
