import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['datasets', 'harnesses', 'runtimes'];

export class RegisterByOwner0000000000015 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- Owner of what every workspace may use that has nothing of its own under the same id.
      INSERT INTO workspaces (id) VALUES ('_shared') ON CONFLICT DO NOTHING;
    `);
    for (const table of TABLES) {
      await db.query(`
        ALTER TABLE ${table}
          -- Defaults are for processes of an older version, which know nobody who may not confirm.
          -- What is said of a version, at first by its content. It may change; the content may not.
          ADD COLUMN version_tags text[] NOT NULL DEFAULT '{}',
          ADD COLUMN registered_by text NOT NULL DEFAULT 'local',
          -- NULL: registered by somebody who may not run it, and nobody else has taken it on yet.
          ADD COLUMN confirmed_at timestamptz DEFAULT now(),
          ADD COLUMN confirmed_by text DEFAULT 'local',
          ADD COLUMN deprecated_at timestamptz,
          ADD COLUMN deprecated_by text,
          ADD COLUMN deprecated_reason text,
          ADD CHECK ((confirmed_at IS NULL) = (confirmed_by IS NULL)),
          ADD CHECK ((deprecated_at IS NULL) = (deprecated_by IS NULL));
        UPDATE ${table} SET confirmed_at = created_at, confirmed_by = registered_by,
          version_tags = ${table === 'datasets' ? 'tags' : `ARRAY(SELECT jsonb_array_elements_text(content -> 'tags'))`};
      `);
    }
    await db.query(`
      -- The limits of this version, its defaults filled in: those of the latest are the limits of the pool.
      -- NULL: registered by a process of an older version, which set the limits of the pool itself.
      ALTER TABLE runtimes ADD COLUMN slots integer CHECK (slots > 0), ADD COLUMN memory_mb integer CHECK (memory_mb > 0),
        ADD COLUMN cpu_millicores integer CHECK (cpu_millicores > 0);
      UPDATE runtimes r SET
        slots = coalesce((r.content ->> 'maxConcurrent')::int, CASE r.kind WHEN 'local' THEN p.slots ELSE 20 END),
        memory_mb = (r.content ->> 'memoryBudgetMb')::int, cpu_millicores = (r.content ->> 'cpuBudgetMillicores')::int
      FROM pools p WHERE p.workspace_id = r.workspace_id AND p.runtime_id = r.id;

      -- Since when the limits are what they are.
      ALTER TABLE pools ADD COLUMN limits_at timestamptz NOT NULL DEFAULT now();
      UPDATE pools p SET limits_at = coalesce(
        (SELECT max(created_at) FROM runtimes r WHERE r.workspace_id = p.workspace_id AND r.id = p.runtime_id), now());
    `);
  }

  async down(): Promise<void> {
    throw new Error('migrations only go forward: restore a backup instead');
  }
}
