import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAttempts0000000000007 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE attempts (
        run_id text COLLATE "C" NOT NULL REFERENCES runs,
        attempt integer NOT NULL CHECK (attempt > 0),
        pool_id text NOT NULL REFERENCES pools,
        -- The grant it runs under; one lease serves one attempt, ever.
        holder text NOT NULL,
        seq bigint NOT NULL,
        memory_mb integer,
        cpu_millicores integer,
        allocation text NOT NULL UNIQUE,
        nonce text NOT NULL,
        -- For local attempts: the host they belong to.
        host_id text,
        opened_at timestamptz NOT NULL DEFAULT now(),
        -- The cluster confirmed the allocation.
        submitted_at timestamptz,
        -- The allocation is provably absent and nothing of it will be created again. NULL keeps the slot.
        closed_at timestamptz,
        -- Cleanup was not confirmed in time; it is being retried.
        cleanup_pending_at timestamptz,
        end_kind text CHECK (end_kind IN ('record', 'silent', 'failed', 'cancelled')),
        error_code text,
        error_message text,
        -- The result record without its answer.
        record jsonb,
        answer bytea,
        provenance jsonb NOT NULL DEFAULT '{}',
        PRIMARY KEY (run_id, attempt),
        UNIQUE (pool_id, seq)
      );
      CREATE INDEX attempts_live ON attempts (pool_id) WHERE closed_at IS NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
