import { randomBytes } from 'node:crypto';
import type { Job } from '../backends/backend.js';
import type { BackendResolver } from '../backends/resolver.js';
import type { AttemptEnd } from '../contracts/attempt.js';
import { allocationName } from '../policy/naming.js';
import type { AttemptStore } from '../store/attempt.store.js';
import type { Attempt } from '../store/attempt-row.js';
import type { LogStore } from '../store/log.store.js';
import type { RunJob } from '../store/run.store.js';
import { type AttemptInput, type CollectInput, type DispatchResult, failed } from './attempt.js';
import { refOf, targetOf } from './attempt-address.js';
import { AttemptFollower, type FollowerDeps, type Following, type Progress } from './attempt-follower.js';
import type { HostGuard } from './host-guard.js';
import { buildJob } from './job-builder.js';
import type { JobLoader } from './job-loader.js';
import { type JobSecrets, maskOf, valuesOf } from './job-secrets.js';
import { onCluster } from './on-cluster.js';

export interface RunnerDeps extends FollowerDeps {
  backends: Pick<BackendResolver, 'use'>;
  jobs: Pick<JobLoader, 'load'>;
  secrets: Pick<JobSecrets, 'of' | 'maskSince'>;
  attempts: FollowerDeps['attempts'] & Pick<AttemptStore, 'open' | 'isLive' | 'confirmSubmitted' | 'read'>;
  logs: FollowerDeps['logs'] & Pick<LogStore, 'kept'>;
  host: Pick<HostGuard, 'hostIdFor' | 'standing'>;
  deployment: string;
  /** Of this platform, for the record. */
  version: string;
}

/** What an attempt is placed and followed with. */
interface Placing extends Pick<Following, 'backend' | 'signal' | 'mask'> {
  run: RunJob;
  job: Job;
  /** Whether nothing was done for this attempt before. */
  isFirst: boolean;
  /** When this try began, by the clock of the process. */
  begun: number;
}

const NOTHING_KEPT = { stdout: 0, stderr: 0 };

const replaced = ({ allocation, hostId }: Attempt): AttemptEnd =>
  failed('NODE_LOST', `${allocation} ran on ${hostId ?? 'a host'}, which no longer serves local runtimes`);

/** Within so long nobody else can have taken over what this try opened, and brought it to its end. */
const PROMPT_MS = 100;

/** Brings one attempt from its grant to its end, from wherever an earlier try left it. */
export class AttemptRunner {
  private readonly follower: AttemptFollower;

  constructor(private readonly deps: RunnerDeps) {
    this.follower = new AttemptFollower(deps);
  }

  /**
   * Each step can be repeated, and a crash between any two leaves something that the next try finds:
   * 1. the fence: the attempt and the allocation's name are recorded before a cluster sees them,
   * 2. submit or adopt, 3. note that the cluster confirmed it, 4. follow until the record or the end, and store it.
   * Nothing is returned if `signal` aborts before the end; the job is left alone.
   */
  async run(input: AttemptInput, signal: AbortSignal, progress: Progress): Promise<DispatchResult | undefined> {
    const { host, jobs, secrets, backends, settings } = this.deps;
    const begun = performance.now();
    if (input.kind !== 'local') await this.requireAccess(input.runId);
    const opened = await this.open(input);
    if (opened.kind === 'refused') return opened;
    const { attempt } = opened;
    if ((await host.standing(input.kind, attempt.hostId)) === 'replaced') return this.ended(input, replaced(attempt));
    if (attempt.end) return attempt.end;
    progress.isSubmitted = attempt.submittedAt !== undefined;
    // Sooner than the cancel of the workflow arrives, which takes a heartbeat.
    if (opened.kind === 'adopted' && opened.isCancelRequested) return this.abandon(input);

    const run = await jobs.load(input.runId);
    const given = await secrets.of(run).catch((error: unknown) => {
      if (attempt.submittedAt === undefined) throw error;
    });
    // Its job is there and was given them before, whatever became of them since.
    if (!given) return this.resume(input, signal, progress);
    const job = buildJob(run, { ...input, deployment: this.deps.deployment, now: Date.now() }, settings, given);
    const isNew = opened.kind === 'opened';
    const mask = isNew ? maskOf(given) : await secrets.maskSince(run, attempt.openedAt);
    let isAgain = false;
    const hidden = [attempt.nonce, ...valuesOf(given)];
    return onCluster(
      backends,
      targetOf(run),
      async ({ backend }) => {
        // Begun again, with another credential of the cluster, it goes on from where it is.
        const known = isAgain ? await this.deps.attempts.read(input.runId, input.attempt) : undefined;
        const placing = { backend, run, job, mask, isFirst: isNew && !isAgain, begun, signal };
        isAgain = true;
        return this.place(known ?? attempt, placing, progress);
      },
      hidden,
    );
  }

  /** Steps 2 to 4. */
  private async place(
    attempt: Attempt,
    { backend, run, job, mask, isFirst, begun, signal }: Placing,
    progress: Progress,
  ): Promise<DispatchResult | undefined> {
    const { attempts } = this.deps;
    const input = { runId: attempt.runId, attempt: attempt.attempt };
    const allocation = refOf(attempt);
    const isPrompt = (): boolean => isFirst && performance.now() - begun < PROMPT_MS;
    if (signal.aborted) return undefined;
    const submitted = await backend.submit(
      job,
      allocation,
      async () => isPrompt() || attempts.isLive(input.runId, input.attempt),
      signal,
    );
    // To have adopted it again says nothing of whether it can be followed.
    if (submitted === 'created') progress.reachedAt = progress.now();
    if (submitted === 'over') return this.overtaken(input);
    if (typeof submitted === 'object') return this.ended(input, failed('PLACEMENT_TIMEOUT', submitted.unplaced));
    if (submitted === 'lost')
      return this.ended(input, failed('ALLOCATION_LOST', `${allocation.name} was created, and is gone`));
    if (submitted === 'taken') {
      return this.ended(input, failed('NAME_TAKEN', `the cluster has a ${allocation.name} that is not ours`));
    }
    const provenance = mask.json({ everdict: this.deps.version, ...(await backend.provenance(allocation)) });
    if (!(await attempts.confirmSubmitted(input.runId, input.attempt, provenance))) {
      // Closed while it was being created: whoever closed it has looked already, and will not look again.
      await backend.stop(allocation);
      return { kind: 'refused', refusal: { reason: 'stale-grant' } };
    }
    progress.isSubmitted = true;
    const from = isFirst ? NOTHING_KEPT : await this.deps.logs.kept(input.runId, input.attempt);
    return this.follower.follow(attempt, run, { from, signal, mask, backend }, progress);
  }

  /** Goes on following an attempt that exists. */
  async resume(
    { runId, attempt: number }: CollectInput,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<AttemptEnd | undefined> {
    const attempt = await this.deps.attempts.read(runId, number);
    if (!attempt) return failed('ALLOCATION_LOST', `attempt ${number} of ${runId} was never opened`);
    if (attempt.end) return attempt.end;
    progress.isSubmitted = attempt.submittedAt !== undefined;
    const run = await this.deps.jobs.load(runId);
    if ((await this.deps.host.standing(run.runtime.kind, attempt.hostId)) === 'replaced') return replaced(attempt);
    const mask = await this.deps.secrets.maskSince(run, attempt.openedAt);
    let isAgain = false;
    return onCluster(
      this.deps.backends,
      targetOf(run),
      async ({ backend }) => {
        const known = isAgain ? await this.deps.attempts.read(runId, number) : undefined;
        isAgain = true;
        const from = await this.deps.logs.kept(runId, number);
        return this.follower.follow(known ?? attempt, run, { from, signal, mask, backend }, progress);
      },
      [attempt.nonce],
    );
  }

  /** Stops the job because the workflow asked. An end that is stored already stays: a record in hand wins. */
  async abandon({ runId, attempt: number }: CollectInput): Promise<AttemptEnd> {
    const { attempts, jobs, host, backends } = this.deps;
    const attempt = await attempts.read(runId, number);
    if (!attempt) return { kind: 'cancelled' };
    if (attempt.end) return attempt.end;
    const run = await jobs.load(runId);
    const standing = await host.standing(run.runtime.kind, attempt.hostId);
    // Before the stop: what a job that is being stopped says of itself is no end of it.
    const end = await this.ended({ runId, attempt: number }, { kind: 'cancelled' });
    if (standing === 'here') {
      // What does not end now is stopped again, and looked for, when the attempt is finished.
      await onCluster(backends, targetOf(run), ({ backend }) => backend.stop(refOf(attempt))).catch(() => undefined);
    }
    return end;
  }

  /** Another worker, or an operator, brought the attempt to its end while this one was about to start it. */
  private async overtaken({ runId, attempt: number }: CollectInput): Promise<DispatchResult> {
    const attempt = await this.deps.attempts.read(runId, number);
    if (attempt?.end) return attempt.end;
    // Whoever settled the run without an end left the attempt to be closed.
    if (attempt && attempt.closedAt === undefined) return { kind: 'cancelled' };
    return { kind: 'refused', refusal: { reason: 'stale-grant' } };
  }

  /** An attempt on a cluster for which there is no credential could not be cleaned up after either: none is opened. */
  private async requireAccess(runId: string): Promise<void> {
    const { jobs, backends } = this.deps;
    await onCluster(backends, targetOf(await jobs.load(runId)), async () => undefined);
  }

  private open({ kind, ...input }: AttemptInput) {
    return this.deps.attempts.open({
      ...input,
      allocation: allocationName(this.deps.deployment, input.runId, input.attempt),
      nonce: randomBytes(16).toString('hex'),
      hostId: this.deps.host.hostIdFor(kind),
    });
  }

  private async ended({ runId, attempt }: CollectInput, end: AttemptEnd): Promise<AttemptEnd> {
    await this.deps.attempts.recordEnd(runId, attempt, end);
    return end;
  }
}
