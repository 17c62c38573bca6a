import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformError } from '../../contracts/errors.js';
import { isAllocationOf } from '../../policy/naming.js';
import type { AllocationEvent, AllocationPage, AllocationRef, Backend, Job, Submitted, Watch } from '../backend.js';
import { reasonOf } from './local.errors.js';
import { followJob } from './local.follow.js';
import { holeOrder } from './local.holes.js';
import type { LocalHost } from './local.host.js';
import { LAUNCHER, launcherFiles } from './local.launcher.js';
import { WrapperLife } from './local.life.js';
import { ProcessTable } from './local.process.js';
import { type HostEnvironment, wrapperOrder } from './local.spawn.js';
import { type StartedWrapper, WrapperStarter } from './local.starter.js';
import { createJobDir, emptyTrash, isOfEarlierBoot, jobPaths, listJobDirs, removeJobDir } from './local.state.js';
import { killJob } from './local.stop.js';
import { ReadingTurns } from './local.turns.js';

export interface LocalOptions {
  /** The operator allows workspaces to run processes on this machine. */
  isAllowed: boolean;
  stateDir: string;
  host: LocalHost;
  environment: HostEnvironment;
  /** Between TERM and KILL. */
  graceMs: number;
}

/** One for the process: it knows nothing of any backend. */
const STARTER = new WrapperStarter();

/** Runs jobs as processes of the worker's machine. Any worker process of that machine can go on with any job. */
export class LocalBackend implements Backend {
  readonly kind = 'local';
  private readonly processes = new ProcessTable();
  private readonly started = new Map<string, StartedWrapper>();
  private readonly turns = new ReadingTurns();

  constructor(private readonly options: LocalOptions) {
    void emptyTrash(options.stateDir, Date.now());
  }

  async submit(job: Job, allocation: AllocationRef, isLive = async () => true): Promise<Submitted> {
    this.refuseIfNotAllowed();
    const { stateDir, host, environment } = this.options;
    const paths = jobPaths(stateDir, allocation.name);
    try {
      if (!existsSync(paths.dir) && allocation.submittedAt !== undefined) return 'lost';
      if (!existsSync(paths.claim) && isOfEarlierBoot(paths, host.bootId)) await removeJobDir(paths);
      const made = createJobDir(paths, [...job.payload, ...launcherFiles(job)], host.bootId);
      // The claim is made by the wrapper, once: starting another one where none is seen yet cannot start the job twice.
      if (!existsSync(paths.claim)) {
        // Its end is known before its directory is taken away: whoever made that anew sees it here.
        if (!(await isLive())) {
          if (made === 'created') await removeJobDir(paths);
          return 'over';
        }
        this.started.set(allocation.name, await STARTER.start(wrapperOrder(paths, job, allocation, environment)));
      }
      return made === 'created' ? 'created' : 'adopted';
    } catch (error) {
      if (error instanceof PlatformError) throw error;
      throw new PlatformError(
        'CLUSTER_UNREACHABLE',
        `this host cannot start ${allocation.name}: ${reasonOf(error)}`,
        {},
        { cause: error },
      );
    }
  }

  watch({ name, nonce }: AllocationRef, watch: Watch): AsyncIterable<AllocationEvent> {
    const { stateDir, host, environment } = this.options;
    const { processes, turns } = this;
    const paths = jobPaths(stateDir, name);
    const giveBack = (file: string, { from, to }: { from: number; to: number }): void => {
      // Only spares disk: that it failed changes nothing.
      STARTER.start(holeOrder(file, from, to, environment.path)).catch(() => undefined);
    };
    const life = new WrapperLife({ name, paths, bootId: host.bootId, processes, started: this.started.get(name) });
    // A program prints its record wherever it likes, a wrapper last of all.
    const isProgram = existsSync(join(paths.payload, LAUNCHER));
    const keep = watch.keep && (isProgram ? { ...watch.keep, tail: Number.POSITIVE_INFINITY } : watch.keep);
    return followJob({ paths, nonce, life, turns, giveBack, ...watch, keep });
  }

  async stop({ name }: AllocationRef): Promise<void> {
    const paths = jobPaths(this.options.stateDir, name);
    await killJob(paths, name, this.processes, this.options.graceMs);
    await removeJobDir(paths);
    this.started.delete(name);
  }

  async list(deployment: string): Promise<AllocationPage> {
    const found = await listJobDirs(this.options.stateDir);
    return { allocations: found.filter(({ name }) => isAllocationOf(deployment, name)) };
  }

  async provenance(_allocation: AllocationRef): Promise<Record<string, unknown>> {
    const { id, name, platform } = this.options.host;
    return { host: id, node: name, platform, enforced: { cpu: false, memoryMb: false } };
  }

  private refuseIfNotAllowed(): void {
    if (this.options.isAllowed) return;
    throw new PlatformError(
      'CAPABILITY_MISSING',
      'this worker may not run jobs as local processes: its operator has not set EVERDICT_ALLOW_LOCAL_RUNTIMES=1',
    );
  }
}
