import type { DataSource } from 'typeorm';
import { SHARED_WORKSPACE } from '../contracts/ids.js';
import { compareVersions } from '../policy/versions.js';
import { versionsOf } from './spec-ref.js';
import { rows } from './sql.js';

/** Where a registered runtime finds its cluster. */
export interface ClusterAddress {
  workspaceId: string;
  id: string;
  /** As it was written. */
  address: string;
}

/** What a workspace sees of registered runtimes, without their content. */
export class KnownRuntimeStore {
  constructor(private readonly dataSource: DataSource) {}

  /** The versions of an id that a workspace sees, the highest first. */
  async versions(workspaceId: string, id: string): Promise<string[]> {
    const seen = await versionsOf(this.dataSource, 'runtimes', workspaceId, [id]);
    return seen.sort((a, b) => compareVersions(b, a)).map(({ version }) => version);
  }

  /** Whether a confirmed version of a workspace names this secret together with this authority. */
  async trusts(workspaceId: string, secret: string, caCert: string): Promise<boolean> {
    const found = await rows(
      this.dataSource,
      `SELECT FROM runtimes WHERE workspace_id = $1 AND confirmed_at IS NOT NULL AND content ->> 'caCert' = $3
         AND $2 IN (content ->> 'authSecret', content ->> 'kubeconfigSecret') LIMIT 1`,
      [workspaceId, secret, caCert],
    );
    return found.length > 0;
  }

  /** The addresses of all clusters that the runtimes of a workspace and the shared ones name. */
  addresses(workspaceId: string): Promise<ClusterAddress[]> {
    return rows<ClusterAddress>(
      this.dataSource,
      `SELECT DISTINCT workspace_id COLLATE "C" AS "workspaceId", id COLLATE "C" AS id,
         coalesce(content ->> 'addr', content ->> 'server') COLLATE "C" AS address
       FROM runtimes WHERE workspace_id IN ($1, $2) AND content ?| ARRAY['addr', 'server'] ORDER BY 1, 2, 3`,
      [workspaceId, SHARED_WORKSPACE],
    );
  }
}
