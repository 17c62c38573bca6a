import type { DataSource } from 'typeorm';
import type { ChangedLimits } from './pool-limits.js';
import { type Queryable, row } from './sql.js';

/** A client's name for one request, so that sending it again creates nothing new. It lives 24 hours. */
export interface IdempotencyKey {
  route: string;
  key: string;
  bodyHash: string;
}

/** What a create call came to: made now, made by an earlier call with the same key, or refused: the key had another body. */
export interface Creation {
  kind: 'created' | 'repeated' | 'conflict';
  id: string;
  /** Of pools, where it confirmed versions of their runtimes. */
  limits?: readonly ChangedLimits[];
}

interface KeyRow {
  body_hash: string;
  resource_id: string;
}

export class IdempotencyStore {
  constructor(private readonly dataSource: DataSource) {}

  /** What an earlier call with this key made, so that a repeat is answered before anything is checked anew. */
  async find(workspaceId: string, key: IdempotencyKey): Promise<Creation | undefined> {
    const found = await row<KeyRow>(
      this.dataSource,
      `SELECT body_hash, resource_id FROM idempotency_keys
       WHERE workspace_id = $1 AND route = $2 AND key = $3 AND created_at >= now() - interval '24 hours'`,
      [workspaceId, key.route, key.key],
    );
    return found && earlierCreation(found, key);
  }
}

const earlierCreation = (found: KeyRow, { bodyHash }: IdempotencyKey): Creation => ({
  kind: found.body_hash === bodyHash ? 'repeated' : 'conflict',
  id: found.resource_id,
});

/** Takes the key for `id` in the caller's transaction; another that has taken it is waited for, and its result returned. */
export async function claimKey(
  db: Queryable,
  workspaceId: string,
  key: IdempotencyKey,
  id: string,
): Promise<Creation | undefined> {
  const claimed = await row(
    db,
    `INSERT INTO idempotency_keys AS known (workspace_id, route, key, body_hash, resource_id) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, route, key)
     DO UPDATE SET body_hash = $4, resource_id = $5, created_at = now() WHERE known.created_at < now() - interval '24 hours'
     RETURNING resource_id`,
    [workspaceId, key.route, key.key, key.bodyHash, id],
  );
  if (claimed) return undefined;
  const found = await row<KeyRow>(
    db,
    'SELECT body_hash, resource_id FROM idempotency_keys WHERE workspace_id = $1 AND route = $2 AND key = $3',
    [workspaceId, key.route, key.key],
  );
  if (!found) throw new Error(`idempotency key ${key.key} vanished while it was read`);
  return earlierCreation(found, key);
}
