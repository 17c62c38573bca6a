import type { MigrationInterface, QueryRunner } from 'typeorm';

export class KeepRegistrySecrets0000000000027 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- They are given to jobs on clusters.
      DROP TRIGGER secrets_replaced ON secrets;
      CREATE TRIGGER secrets_replaced AFTER UPDATE OF version OR DELETE ON secrets
        FOR EACH ROW WHEN (OLD.use IN ('env', 'git', 'registry')) EXECUTE FUNCTION keep_replaced_secret();
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
