import type { DataSource } from 'typeorm';
import { affected, row, rows } from './sql.js';

export class WorkspaceStore {
  constructor(private readonly dataSource: DataSource) {}

  async create(id: string): Promise<'inserted' | 'unchanged'> {
    const sql = 'INSERT INTO workspaces (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id';
    return (await affected(this.dataSource, sql, [id])) > 0 ? 'inserted' : 'unchanged';
  }

  async exists(id: string): Promise<boolean> {
    return (await row(this.dataSource, 'SELECT 1 FROM workspaces WHERE id = $1', [id])) !== undefined;
  }

  /** In the order of their ids; `after` is the last one of the page before. */
  async list({ after = '', limit }: { after?: string; limit: number }): Promise<string[]> {
    const sql = 'SELECT id FROM workspaces WHERE id COLLATE "C" > $1 ORDER BY id COLLATE "C" LIMIT $2';
    return (await rows<{ id: string }>(this.dataSource, sql, [after, limit])).map(({ id }) => id);
  }
}
