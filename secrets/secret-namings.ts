import type { DataSource } from 'typeorm';
import type { SecretUse } from '../contracts/secret.js';
import { rows } from '../store/sql.js';

/** A registered version that names a secret, and what it takes it for. */
export interface Naming {
  kind: 'runtime' | 'harness';
  /** `id@version`. */
  ref: string;
  use: SecretUse;
}

export class SecretNamings {
  constructor(private readonly dataSource: DataSource) {}

  /** Whoever names a secret of this name, in the order of registration. */
  of(workspaceId: string, name: string): Promise<Naming[]> {
    return rows<Naming>(
      this.dataSource,
      `(SELECT 'runtime' AS kind, id || '@' || version AS ref, 'cluster' AS use FROM runtimes
        WHERE workspace_id = $1 AND $2 IN (content->>'authSecret', content->>'kubeconfigSecret') ORDER BY pk)
       UNION ALL
       (SELECT 'harness', id || '@' || version, 'env' FROM harnesses
        WHERE workspace_id = $1
          AND EXISTS (SELECT 1 FROM jsonb_each(content->'env') AS each WHERE each.value->>'secretRef' = $2)
        ORDER BY pk)`,
      [workspaceId, name],
    );
  }
}
