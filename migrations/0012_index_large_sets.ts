import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IndexLargeSets0000000000012 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Cases arrive before their dataset, which is inserted last: until then nobody can see it, or waits for it.
      ALTER TABLE dataset_cases ALTER CONSTRAINT dataset_cases_dataset_pk_fkey DEFERRABLE INITIALLY IMMEDIATE;

      -- Size of the content as JSON text, so that a page can be cut before any content is read.
      ALTER TABLE dataset_cases ADD COLUMN bytes integer;
      UPDATE dataset_cases SET bytes = octet_length(content::text);
      ALTER TABLE dataset_cases ALTER COLUMN bytes SET NOT NULL;
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
