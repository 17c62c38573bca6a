import type { DataSource } from 'typeorm';
import type { CiBindingRequest, CiBindingView } from '../contracts/access.js';
import { shortId } from './ids.js';
import { row, rows } from './sql.js';

/** What the token of a workflow says of where it runs. */
export interface WorkflowClaims {
  repository: string;
  ref?: string;
  environment?: string;
}

interface BindingRow {
  id: string;
  seq: number;
  repository: string;
  ref: string | null;
  environment: string | null;
  created_by: string;
  created_at: Date;
}

/** A binding as it is shown, with its position in the list. */
export interface PositionedBinding {
  seq: number;
  binding: CiBindingView;
}

const COLUMNS = 'id, seq, repository, ref, environment, created_by, created_at';

const toBinding = (stored: BindingRow): CiBindingView => ({
  id: stored.id,
  repository: stored.repository,
  ref: stored.ref,
  environment: stored.environment,
  createdBy: stored.created_by,
  createdAt: stored.created_at.toISOString(),
});

export class CiBindingStore {
  constructor(private readonly dataSource: DataSource) {}

  async create(
    workspaceId: string,
    { repository, ref = null, environment = null }: { [Key in keyof CiBindingRequest]: CiBindingRequest[Key] | null },
    createdBy: string,
  ): Promise<{ kind: 'inserted' | 'unchanged'; binding: CiBindingView }> {
    const wanted = [workspaceId, repository, ref, environment];
    const inserted = await row<BindingRow>(
      this.dataSource,
      `INSERT INTO ci_bindings (id, workspace_id, repository, ref, environment, created_by)
       VALUES ($5, $1, $2, $3, $4, $6) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      [...wanted, shortId(), createdBy],
    );
    if (inserted) return { kind: 'inserted', binding: toBinding(inserted) };
    const known = await row<BindingRow>(
      this.dataSource,
      `SELECT ${COLUMNS} FROM ci_bindings WHERE workspace_id = $1 AND repository = $2
         AND ref IS NOT DISTINCT FROM $3 AND environment IS NOT DISTINCT FROM $4`,
      wanted,
    );
    return known
      ? { kind: 'unchanged', binding: toBinding(known) }
      : this.create(workspaceId, { repository, ref, environment }, createdBy);
  }

  /** Newest first; `after` is the position of the last one of the page before. */
  async list(workspaceId: string, { after, limit }: { after?: number; limit: number }): Promise<PositionedBinding[]> {
    const found = await rows<BindingRow>(
      this.dataSource,
      `SELECT ${COLUMNS} FROM ci_bindings
       WHERE workspace_id = $1 AND ($2::bigint IS NULL OR seq < $2) ORDER BY seq DESC LIMIT $3`,
      [workspaceId, after ?? null, limit],
    );
    return found.map((stored) => ({ seq: stored.seq, binding: toBinding(stored) }));
  }

  async remove(workspaceId: string, id: string): Promise<CiBindingView | undefined> {
    const removed = await row<BindingRow>(
      this.dataSource,
      `DELETE FROM ci_bindings WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
      [workspaceId, id],
    );
    return removed && toBinding(removed);
  }

  /** Workspaces whose CI this workflow is, in the order in which they said so. */
  async workspacesOf({ repository, ref, environment }: WorkflowClaims): Promise<string[]> {
    const found = await rows<{ workspace_id: string }>(
      this.dataSource,
      `SELECT workspace_id FROM ci_bindings
       WHERE repository = $1 AND (ref IS NULL OR ref = $2) AND (environment IS NULL OR environment = $3)
       GROUP BY workspace_id ORDER BY min(seq)`,
      [repository.toLowerCase(), ref ?? null, environment ?? null],
    );
    return found.map(({ workspace_id }) => workspace_id);
  }
}
