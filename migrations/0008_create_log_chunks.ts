import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateLogChunks0000000000008 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE log_chunks (
        run_id text COLLATE "C" NOT NULL,
        attempt integer NOT NULL,
        stream text NOT NULL CHECK (stream IN ('stdout', 'stderr')),
        -- Offset of the first byte in what the job wrote; a gap between chunks is a cut.
        at bigint NOT NULL,
        bytes bytea NOT NULL,
        written_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (run_id, attempt, stream, at),
        FOREIGN KEY (run_id, attempt) REFERENCES attempts
      );
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
