import type { MigrationInterface, QueryRunner } from 'typeorm';

export class VersionSecrets0000000000016 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- A number that no other value of any secret had: whoever uses one learns from it that it changed.
      CREATE SEQUENCE secret_versions;
      ALTER TABLE secrets ADD COLUMN version bigint NOT NULL DEFAULT nextval('secret_versions');
      CREATE INDEX secrets_by_key ON secrets (key_id, workspace_id, name);
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
