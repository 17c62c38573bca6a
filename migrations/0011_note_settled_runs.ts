import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NoteSettledRuns0000000000011 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- The transaction that settled the run: what a snapshot did not see yet is found by it, whatever the clocks say.
      ALTER TABLE runs ADD COLUMN settled_xid xid8;
      -- Settled before there was this column: seen by every snapshot.
      UPDATE runs SET settled_xid = '3' WHERE outcome IS NOT NULL;
      CREATE INDEX runs_settled ON runs (scorecard_id, settled_xid, ordinal) WHERE settled_xid IS NOT NULL;

      -- Postgres sends equal notes of one transaction once.
      CREATE FUNCTION note_settled_run() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.settled_xid := pg_current_xact_id();
        IF NEW.scorecard_id IS NOT NULL THEN
          PERFORM pg_notify('scorecards', NEW.scorecard_id);
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER note_settled BEFORE UPDATE ON runs FOR EACH ROW
        WHEN (OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION note_settled_run();

      CREATE FUNCTION note_finished_scorecard() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('scorecards', NEW.id);
        RETURN NULL;
      END $$;
      CREATE TRIGGER note_finished AFTER UPDATE ON scorecards FOR EACH ROW
        WHEN (OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL) EXECUTE FUNCTION note_finished_scorecard();
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
