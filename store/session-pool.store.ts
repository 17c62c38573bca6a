import type { DataSource } from 'typeorm';
import { SessionCapacity } from '../contracts/harness.js';
import { groupBy } from '../policy/grouping.js';
import { latestOf } from '../policy/versions.js';
import { rows } from './sql.js';

interface WaitingVersion {
  pool: string;
  version: string;
  registeredAt: number;
  capacity: unknown;
}

export class SessionPoolStore {
  constructor(private readonly dataSource: DataSource) {}

  /** By name, those of a runtime's session pools that someone waits in: as the latest version among the waiting says. */
  async endpoints(poolId: string, names: readonly string[]): Promise<Map<string, SessionCapacity>> {
    const found = await rows<WaitingVersion>(
      this.dataSource,
      `SELECT session_pool AS pool, version, pk AS "registeredAt", content #> '{acquire,capacity}' AS capacity
       FROM harnesses
       WHERE session_pool = ANY ($2) AND pk IN (
         SELECT harness_pk FROM runs
         WHERE pool_id = $1 AND asked_at IS NOT NULL AND open_attempt IS NULL AND outcome IS NULL)`,
      [poolId, names],
    );
    const endpoints = new Map<string, SessionCapacity>();
    for (const [pool, versions] of groupBy(found, (version) => version.pool)) {
      const { success, data } = SessionCapacity.safeParse(latestOf(versions)?.capacity);
      if (success) endpoints.set(pool, data);
    }
    return endpoints;
  }
}
