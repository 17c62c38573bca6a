import { DataSource } from 'typeorm';
import { CreateWorkspaces0000000000001 } from '../migrations/0001_create_workspaces.js';
import { CreateSecrets0000000000002 } from '../migrations/0002_create_secrets.js';
import { CreateDatasets0000000000003 } from '../migrations/0003_create_datasets.js';
import { CreateHarnesses0000000000004 } from '../migrations/0004_create_harnesses.js';
import { CreateScorecards0000000000005 } from '../migrations/0005_create_scorecards.js';
import { CreateRuns0000000000006 } from '../migrations/0006_create_runs.js';
import { CreateAttempts0000000000007 } from '../migrations/0007_create_attempts.js';
import { CreateLogChunks0000000000008 } from '../migrations/0008_create_log_chunks.js';
import { CreateRuntimes0000000000009 } from '../migrations/0009_create_runtimes.js';
import { AddDeadlinesAndDecisions0000000000010 } from '../migrations/0010_add_deadlines_and_decisions.js';
import { NoteSettledRuns0000000000011 } from '../migrations/0011_note_settled_runs.js';
import { IndexLargeSets0000000000012 } from '../migrations/0012_index_large_sets.js';
import { IndexScorecards0000000000013 } from '../migrations/0013_index_scorecards.js';
import { AddAccess0000000000014 } from '../migrations/0014_add_access.js';
import { RegisterByOwner0000000000015 } from '../migrations/0015_register_by_owner.js';
import { VersionSecrets0000000000016 } from '../migrations/0016_version_secrets.js';
import { CreateAuditEvents0000000000017 } from '../migrations/0017_create_audit_events.js';
import { NoteAcceptance0000000000018 } from '../migrations/0018_note_acceptance.js';
import { KeepReplacedSecrets0000000000019 } from '../migrations/0019_keep_replaced_secrets.js';
import { SteerAdmission0000000000020 } from '../migrations/0020_steer_admission.js';
import { PredictWaits0000000000021 } from '../migrations/0021_predict_waits.js';
import { BoundDepth0000000000022 } from '../migrations/0022_bound_depth.js';
import { BoundPromotions0000000000024 } from '../migrations/0024_bound_promotions.js';
import { EndLimitsApart0000000000025 } from '../migrations/0025_end_limits_apart.js';
import { NotePlacement0000000000026 } from '../migrations/0026_note_placement.js';
import { KeepRegistrySecrets0000000000027 } from '../migrations/0027_keep_registry_secrets.js';
import { NoteLogMarks0000000000028 } from '../migrations/0028_note_log_marks.js';
import { JudgeScorecards0000000000029 } from '../migrations/0029_judge_scorecards.js';
import { CarryResults0000000000030 } from '../migrations/0030_carry_results.js';
import { StopEarly0000000000031 } from '../migrations/0031_stop_early.js';
import { DeleteScorecards0000000000032 } from '../migrations/0032_delete_scorecards.js';
import { explainRefusal } from './database-refused.js';
import { KEEP_ALIVE, limitsOf, PooledClient } from './pooled-client.js';
import { type Queryable, rows } from './sql.js';

const MIGRATIONS = [
  CreateWorkspaces0000000000001,
  CreateSecrets0000000000002,
  CreateDatasets0000000000003,
  CreateHarnesses0000000000004,
  CreateScorecards0000000000005,
  CreateRuns0000000000006,
  CreateAttempts0000000000007,
  CreateLogChunks0000000000008,
  CreateRuntimes0000000000009,
  AddDeadlinesAndDecisions0000000000010,
  NoteSettledRuns0000000000011,
  IndexLargeSets0000000000012,
  IndexScorecards0000000000013,
  AddAccess0000000000014,
  RegisterByOwner0000000000015,
  VersionSecrets0000000000016,
  CreateAuditEvents0000000000017,
  NoteAcceptance0000000000018,
  KeepReplacedSecrets0000000000019,
  SteerAdmission0000000000020,
  PredictWaits0000000000021,
  BoundDepth0000000000022,
  BoundPromotions0000000000024,
  EndLimitsApart0000000000025,
  NotePlacement0000000000026,
  KeepRegistrySecrets0000000000027,
  NoteLogMarks0000000000028,
  JudgeScorecards0000000000029,
  CarryResults0000000000030,
  StopEarly0000000000031,
  DeleteScorecards0000000000032,
];

/** Oldest major version of the server that this was tried with. */
const OLDEST_POSTGRES = 15;

/** Any number that no other program takes as an advisory lock in this database. */
const MIGRATION_LOCK = 3_834_122_457;

interface DatabaseOptions {
  url: string;
  /** Connections at most. */
  poolSize?: number;
  applicationName?: string;
  /** What a statement may take at most. Absent: any time, and a connection that went silent is waited for. */
  statementMs?: number;
}

/** A pool of connections, not yet initialised. `bigint` columns read as numbers: all of ours stay below 2^53. */
export function createDataSource({
  url,
  poolSize = 10,
  applicationName = 'everdict',
  statementMs,
}: DatabaseOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    poolSize,
    applicationName,
    parseInt8: true,
    connectTimeoutMS: 5_000,
    // Idle connections that break are replaced on the next use; nothing is lost with them.
    poolErrorHandler: () => undefined,
    extra: { Client: PooledClient, ...KEEP_ALIVE, ...(statementMs !== undefined && limitsOf(statementMs)) },
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
  });
}

/** A connected pool. Fails with `DatabaseRefused` where it is of no use to try again. */
export async function openDatabase(options: DatabaseOptions): Promise<DataSource> {
  try {
    return await createDataSource(options).initialize();
  } catch (error) {
    throw explainRefusal(error, options.url);
  }
}

/**
 * A pool of connections to a database with the schema of this code. `patiently` waits until a connection is made. What
 * migrates may take any time.
 */
export async function readyDatabase(
  options: DatabaseOptions,
  version: string,
  patiently: (connect: () => Promise<DataSource>) => Promise<DataSource>,
): Promise<DataSource> {
  const first = await patiently(() => openDatabase({ ...options, poolSize: 2, statementMs: undefined }));
  try {
    await migrate(first, version);
  } finally {
    await first.destroy();
  }
  return patiently(() => openDatabase(options));
}

/**
 * Brings the schema up to this code; processes that start together do it once. Refuses a server that is too old, and a
 * schema newer than the code. `version` of the platform is kept with the schema, to be named in such a refusal.
 */
export async function migrate(dataSource: DataSource, version?: string): Promise<void> {
  await refuseOldServer(dataSource);
  const lock = dataSource.createQueryRunner();
  try {
    await rows(lock, 'SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await refuseNewerSchema(dataSource, version);
    await dataSource.runMigrations({ transaction: 'all' });
    if (version) await keepVersion(lock, version);
    await rows(lock, 'SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  } finally {
    await lock.release();
  }
}

async function keepVersion(db: Queryable, version: string): Promise<void> {
  const [table] = await rows<{ by: string | null }>(db, `SELECT obj_description(to_regclass('migrations')) AS by`);
  // A comment takes no parameters; a version holds nothing to quote.
  if (table?.by !== version) await rows(db, `COMMENT ON TABLE migrations IS '${version}'`);
}

async function refuseOldServer(dataSource: DataSource): Promise<void> {
  const [server] = await rows<{ major: number; version: string }>(
    dataSource,
    `SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('server_version') AS version`,
  );
  requirePostgres(server?.major ?? 0, server?.version ?? 'unknown');
}

export function requirePostgres(major: number, version: string): void {
  if (major >= OLDEST_POSTGRES) return;
  throw new Error(
    `the Postgres of DATABASE_URL is version ${version}, and ${OLDEST_POSTGRES} or newer is needed: upgrade it, or set ` +
      'DATABASE_URL to another',
  );
}

async function refuseNewerSchema(dataSource: DataSource, version = 'an older version'): Promise<void> {
  const [table] = await rows<{ name: string | null; migratedBy: string | null }>(
    dataSource,
    `SELECT to_regclass('migrations')::text AS name, obj_description(to_regclass('migrations')) AS "migratedBy"`,
  );
  if (!table?.name) return;
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const applied = await rows<{ name: string }>(dataSource, 'SELECT name FROM migrations ORDER BY timestamp');
  const newer = applied.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (newer.length === 0) return;
  const theirs = table.migratedBy ?? 'a newer version';
  throw new Error(
    `the database was migrated by Everdict ${theirs} and has what this one, ${version}, does not know ` +
      `(${newer.join(', ')}): run ${theirs} or newer; nothing was changed`,
  );
}
