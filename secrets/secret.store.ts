import type { DataSource } from 'typeorm';
import { rows } from '../store/sql.js';

export class SecretStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Which of these names no `env` secret of the workspace has, in their order. */
  async missing(workspaceId: string, names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return [];
    const sql = `SELECT name FROM secrets WHERE workspace_id = $1 AND use = 'env' AND name = ANY ($2)`;
    const stored = await rows<{ name: string }>(this.dataSource, sql, [workspaceId, names]);
    const known = new Set(stored.map(({ name }) => name));
    return names.filter((name) => !known.has(name));
  }
}
