import { createSecretKey, randomBytes } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { AdmissionSender } from '../../../activities/admission-sender.js';
import { createAllocationActivities } from '../../../activities/allocation.activities.js';
import type { AttemptInput, DispatchResult, FinishResult, ShortResult } from '../../../activities/attempt.js';
import { AttemptFinisher } from '../../../activities/attempt-finisher.js';
import { AttemptRunner } from '../../../activities/attempt-runner.js';
import { EndedAttempts } from '../../../activities/ended-attempts.js';
import { HostGuard } from '../../../activities/host-guard.js';
import { JobLoader } from '../../../activities/job-loader.js';
import { JobSecrets } from '../../../activities/job-secrets.js';
import type { Backend } from '../../../backends/backend.js';
import { readLocalHost } from '../../../backends/local/local.host.js';
import type { BackendResolver } from '../../../backends/resolver.js';
import type { Release } from '../../../contracts/admission.js';
import type { AttemptEnd } from '../../../contracts/attempt.js';
import { Sealer } from '../../../secrets/sealer.js';
import { SecretStore } from '../../../secrets/secret.store.js';
import type { AttemptStore } from '../../../store/attempt.store.js';
import { newId } from '../../../store/ids.js';
import { LocalHostStore } from '../../../store/local-host.store.js';
import type { LogStore } from '../../../store/log.store.js';
import type { RunStore } from '../../../store/run.store.js';
import { aCase, aHarness, aProcess, MEMBER } from '../../builders.js';
import { eventually } from '../../eventually.js';
import { LocalSite, SETTINGS } from '../../local-jobs.js';
import { createTestDatabase, type TestDatabase } from '../../postgres.js';
import { aWorld, nextSeq, POOL, type World } from '../store/world.js';

export interface RunSketch {
  /** Of a command harness; or `entrypoint`, of a process. */
  command?: string;
  setup?: string[];
  entrypoint?: string[];
  /** Further parts of the harness. */
  harness?: Record<string, unknown>;
  case?: Record<string, unknown>;
  infraRetries?: number;
}

/** What a worker process acts through. A test puts its own in between, to fail or to look. */
export interface Effects {
  attempts: AttemptStore;
  runs: RunStore;
  logs: LogStore;
  backend: Backend;
  sender: Pick<AdmissionSender, 'send'>;
}

/** One host with its database: runs to execute, and worker processes that execute them. */
export class Rig {
  /** Leases that were given back, in order. */
  readonly released: Release[] = [];
  readonly secrets: SecretStore;
  private registered = 0;

  private constructor(
    readonly site: LocalSite,
    readonly world: World,
    private readonly db: TestDatabase,
  ) {
    const sealer = new Sealer([{ id: 'test', key: createSecretKey(randomBytes(32)) }]);
    this.secrets = new SecretStore({ dataSource: db.dataSource, sealer });
  }

  static async open(): Promise<Rig> {
    const db = await createTestDatabase();
    return new Rig(await LocalSite.open(), await aWorld(db.dataSource), db);
  }

  async close(): Promise<void> {
    await this.site.close();
    await this.db.drop();
  }

  /** A run of its own, and the grant that its first attempt is opened with. */
  async run({
    command,
    setup,
    entrypoint,
    case: evalCase = {},
    infraRetries = 2,
    ...rest
  }: RunSketch): Promise<AttemptInput> {
    this.registered += 1;
    const parts = { id: `harness-${this.registered}`, ...rest.harness };
    const harness = entrypoint ? aProcess({ entrypoint, ...parts }) : aHarness({ command, setup, ...parts });
    await this.world.harnesses.insert('default', harness, MEMBER);
    const id = newId('run');
    await this.world.runs.create({
      id,
      workspaceId: 'default',
      case: { own: aCase(evalCase) },
      harnessPk: (await this.world.harnesses.find('default', harness.id))?.pk ?? 0,
      site: { poolId: POOL, version: '1.0.0' },
      class: 'batch',
      demand: {},
      infraRetries,
      params: {},
      metadata: {},
    });
    return this.grant(id, 1);
  }

  grant(runId: string, attempt: number): AttemptInput {
    return { runId, attempt, poolId: POOL, kind: 'local', holder: `case:${runId}`, seq: nextSeq(), epoch: 0 };
  }

  /** A worker process of this host; another call is another process. */
  async worker({ through = (effects: Effects) => effects, logBytes = 10_000_000, host = true } = {}) {
    const { world, site, released } = this;
    const { attempts, runs, logs, backend, sender } = through({
      attempts: world.attempts,
      runs: world.runs,
      logs: world.logs,
      backend: await site.worker({ graceMs: 500 }),
      sender: { send: async (_poolId, { release }) => void released.push(...release) },
    });
    const backends = resolvingTo(backend);
    const jobs = new JobLoader(runs);
    const hostId = host ? await this.hostId() : 'another-host';
    const guard = new HostGuard(new LocalHostStore(world.dataSource), hostId);
    const ended = new EndedAttempts();
    const runner = new AttemptRunner({
      ended,
      backends,
      jobs,
      secrets: new JobSecrets(this.secrets),
      settings: SETTINGS,
      attempts,
      logs,
      host: guard,
      deployment: 'test',
      version: '1.2.3',
      logBytes,
    });
    const finisher = new AttemptFinisher({
      logs,
      ended,
      backends,
      jobs,
      pools: world.pools,
      runs,
      attempts,
      sender,
      host: guard,
      pauses: { judge: async () => undefined },
      timers: SETTINGS.timers,
      cleanupMs: 9 * 60_000,
      unreachableMs: 30 * 60_000,
    });
    return new Worker(
      createAllocationActivities({ runner, finisher, unreachableMs: 30 * 60_000, refusedMs: 120_000 }),
      world.attempts,
    );
  }

  async hostId(): Promise<string> {
    return (await readLocalHost(this.site.stateDir)).id;
  }

  /** Everything that runs for any attempt of the run. */
  async processesOf({ runId, attempt }: AttemptInput): Promise<number[]> {
    const known = await this.world.attempts.read(runId, attempt);
    return known ? this.site.processesOf({ name: known.allocation, nonce: '' }) : [];
  }
}

/** Speaks to one backend, whatever the runtime. */
const resolvingTo = (backend: Backend): Pick<BackendResolver, 'use'> => ({
  use: ({ spec, owner }, work) =>
    work({
      ...{ spec, zone: owner, backend },
      get cluster(): never {
        throw new Error('a local runtime has no cluster');
      },
    }),
});

type Activities = ReturnType<typeof createAllocationActivities>;

/** Context of an activity that began just now. */
export const aContext = (info: Record<string, unknown> = {}): MockActivityEnvironment =>
  new MockActivityEnvironment(
    { scheduledTimestampMs: Date.now(), currentAttemptScheduledTimestampMs: Date.now(), ...info },
    { logger: new DefaultLogger('ERROR') },
  );

/** Calls activities as a worker process does: each in a context of its own. */
export class Worker {
  constructor(
    private readonly activities: Activities,
    private readonly attempts: Pick<AttemptStore, 'read'>,
  ) {}

  tryShort(input: AttemptInput, env = aContext()): Promise<ShortResult> {
    return env.run(this.activities.tryShort, input);
  }

  dispatch(input: AttemptInput, env = aContext()): Promise<DispatchResult> {
    return env.run(this.activities.dispatch, input);
  }

  /** Starts the job and stops as a worker process does: the job goes on. */
  async leaveRunning(input: AttemptInput): Promise<void> {
    const env = aContext();
    const left = this.dispatch(input, env).catch((error: unknown) => error);
    await eventually('its job is there', async () => {
      const { submittedAt, closedAt } = (await this.attempts.read(input.runId, input.attempt)) ?? {};
      return submittedAt !== undefined || closedAt !== undefined;
    });
    env.cancel('WORKER_SHUTDOWN');
    await left;
  }

  finish(input: AttemptInput, end: AttemptEnd, env = aContext()): Promise<FinishResult> {
    return env.run(this.activities.finish, { ...input, end });
  }

  collect({ runId, attempt }: AttemptInput): Promise<DispatchResult> {
    return aContext().run(this.activities.collect, { runId, attempt });
  }

  reclaim(runId: string, seq?: number): Promise<void> {
    return aContext().run(this.activities.reclaim, { runId, seq });
  }

  /** As the case workflow does it. */
  async runToEnd(input: AttemptInput): Promise<{ end?: DispatchResult; finished?: FinishResult }> {
    const short = await this.tryShort(input);
    if (short.kind === 'finished') return { finished: short.result };
    return short.kind === 'running' ? this.runAtLength(input) : this.finishAfter(input, short);
  }

  /** The same for a job that is too long for a local try. */
  async runAtLength(input: AttemptInput): Promise<{ end: DispatchResult; finished?: FinishResult }> {
    return this.finishAfter(input, await this.dispatch(input));
  }

  private async finishAfter(input: AttemptInput, end: DispatchResult) {
    return end.kind === 'refused' ? { end } : { end, finished: await this.finish(input, end) };
  }
}
