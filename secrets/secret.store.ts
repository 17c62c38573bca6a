import type { DataSource } from 'typeorm';
import type { SecretUse } from '../contracts/secret.js';
import { affected, row, rows } from '../store/sql.js';
import type { Sealer } from './sealer.js';

/** All that is told of a secret. */
export interface SecretRecord {
  name: string;
  use: SecretUse;
  /** Origins or hosts the value may be sent to. */
  bindings: string[];
  updatedBy: string;
  updatedAt: Date;
}

export interface NewSecret extends Omit<SecretRecord, 'updatedBy' | 'updatedAt'> {
  value: string;
}

export interface OpenSecret {
  kind: 'open';
  name: string;
  use: SecretUse;
  bindings: string[];
  value: string;
  /** Another one whenever the value, its use or its bindings were set. */
  version: number;
}

/** `reason` says of a secret that is there why it cannot be read, in words that follow its name. */
export type SecretReading =
  | OpenSecret
  | { kind: 'missing'; name: string }
  | { kind: 'closed'; name: string; reason: string };

/** What a job is given secrets for: names of `env` secrets, and the hosts of which it asks something else. */
export interface AskedSecrets {
  names: readonly string[];
  git: readonly string[];
  registry: readonly string[];
}

interface SealedRow {
  name: string;
  use: SecretUse;
  bindings: string[];
  sealed: Buffer;
  key_id: string;
  version: number;
}

const SEALED = 'name, use, bindings, sealed, key_id, version';
const RECORD = 'name, use, bindings, updated_by AS "updatedBy", updated_at AS "updatedAt"';

interface Parts {
  dataSource: DataSource;
  sealer: Sealer;
  /** Told every value that passes through here, so that no log shows it. */
  hide?: (value: string) => void;
}

/** Named values of workspaces, sealed at rest. */
export class SecretStore {
  constructor(private readonly parts: Parts) {}

  /** Stores a value under a name, whatever was there before. */
  async put(
    workspaceId: string,
    { name, use, bindings, value }: NewSecret,
    by: string,
  ): Promise<'created' | 'replaced'> {
    const { dataSource, sealer, hide } = this.parts;
    hide?.(value);
    const { keyId, bytes } = sealer.seal({ workspaceId, name, use, bindings }, value);
    const stored = await row<{ created: boolean }>(
      dataSource,
      `INSERT INTO secrets (workspace_id, name, use, bindings, sealed, key_id, updated_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (workspace_id, name) DO UPDATE SET
         use = excluded.use, bindings = excluded.bindings, sealed = excluded.sealed, key_id = excluded.key_id,
         updated_by = excluded.updated_by, updated_at = now(), version = nextval('secret_versions')
       RETURNING xmax = 0 AS created`,
      [workspaceId, name, use, bindings, bytes, keyId, by],
    );
    return stored?.created ? 'created' : 'replaced';
  }

  async find(workspaceId: string, name: string): Promise<SecretRecord | undefined> {
    const sql = `SELECT ${RECORD} FROM secrets WHERE workspace_id = $1 AND name = $2`;
    return row<SecretRecord>(this.parts.dataSource, sql, [workspaceId, name]);
  }

  /** By name, after `after`. */
  async list(workspaceId: string, after: string | undefined, limit: number): Promise<SecretRecord[]> {
    return rows<SecretRecord>(
      this.parts.dataSource,
      `SELECT ${RECORD} FROM secrets
       WHERE workspace_id = $1 AND ($2::text IS NULL OR name COLLATE "C" > $2) ORDER BY name COLLATE "C" LIMIT $3`,
      [workspaceId, after ?? null, limit],
    );
  }

  async remove(workspaceId: string, name: string): Promise<boolean> {
    const sql = 'DELETE FROM secrets WHERE workspace_id = $1 AND name = $2';
    return (await affected(this.parts.dataSource, sql, [workspaceId, name])) > 0;
  }

  /** The values of these names, in their order. */
  async open(workspaceId: string, names: readonly string[]): Promise<SecretReading[]> {
    if (names.length === 0) return [];
    const stored = await rows<SealedRow>(
      this.parts.dataSource,
      `SELECT ${SEALED} FROM secrets WHERE workspace_id = $1 AND name = ANY ($2)`,
      [workspaceId, names],
    );
    const byName = new Map(stored.map((each) => [each.name, each]));
    return names.map((name) => {
      const found = byName.get(name);
      return found ? this.reading(workspaceId, found) : { kind: 'missing', name };
    });
  }

  /** The first secret, by name, of those that may be sent to one of these hosts. */
  async forHost(workspaceId: string, use: SecretUse, hosts: readonly string[]): Promise<SecretReading | undefined> {
    if (hosts.length === 0) return undefined;
    const found = await row<SealedRow>(
      this.parts.dataSource,
      `SELECT ${SEALED} FROM secrets WHERE workspace_id = $1 AND use = $2 AND bindings && $3::text[]
       ORDER BY name COLLATE "C" LIMIT 1`,
      [workspaceId, use, hosts],
    );
    return found && this.reading(workspaceId, found);
  }

  /**
   * Values that were given to jobs and are others by now: those that were in force at `since`, epoch ms, or later. What
   * does not open is left out.
   */
  async replacedSince(
    workspaceId: string,
    { names, git, registry }: AskedSecrets,
    since: number,
  ): Promise<OpenSecret[]> {
    if (names.length + git.length + registry.length === 0) return [];
    const found = await rows<SealedRow>(
      this.parts.dataSource,
      `SELECT ${SEALED} FROM replaced_secrets WHERE workspace_id = $1 AND replaced_at >= to_timestamp($4)
         AND ((use = 'env' AND name = ANY ($2)) OR (use = 'git' AND bindings && $3::text[])
           OR (use = 'registry' AND bindings && $5::text[]))`,
      [workspaceId, names, git, since / 1_000, registry],
    );
    const readings = found.map((each) => this.reading(workspaceId, each));
    return readings.filter((each) => each.kind === 'open');
  }

  /** Versions of those of these names that are there. */
  async versions(workspaceId: string, names: readonly string[]): Promise<Map<string, number>> {
    if (names.length === 0) return new Map();
    const sql = 'SELECT name, version FROM secrets WHERE workspace_id = $1 AND name = ANY ($2)';
    const stored = await rows<{ name: string; version: number }>(this.parts.dataSource, sql, [workspaceId, names]);
    return new Map(stored.map(({ name, version }) => [name, version]));
  }

  /** Which of these names no `env` secret of the workspace has, in their order. */
  async missing(workspaceId: string, names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return [];
    const sql = `SELECT name FROM secrets WHERE workspace_id = $1 AND use = 'env' AND name = ANY ($2)`;
    const stored = await rows<{ name: string }>(this.parts.dataSource, sql, [workspaceId, names]);
    const known = new Set(stored.map(({ name }) => name));
    return names.filter((name) => !known.has(name));
  }

  private reading(workspaceId: string, stored: SealedRow): SecretReading {
    const { name, use, bindings, sealed, key_id: keyId, version } = stored;
    const opened = this.parts.sealer.open({ workspaceId, name, use, bindings }, { keyId, bytes: sealed });
    if (opened.kind === 'closed') return { kind: 'closed', name, reason: opened.reason };
    this.parts.hide?.(opened.value);
    return { kind: 'open', name, use, bindings, version, value: opened.value };
  }
}
