import type { LeaseEnd } from '../contracts/admission.js';
import type { AttemptEnd, AttemptFailure } from '../contracts/attempt.js';
import type { LogStream } from '../contracts/log-events.js';
import { lastWords } from '../policy/last-words.js';
import { errored, type Verdict, verdictOf, withLastWords } from '../policy/results.js';
import { nextStep } from '../policy/retry.js';
import { TERMINATED } from '../policy/sweep.js';
import type { AttemptStore } from '../store/attempt.store.js';
import type { Attempt } from '../store/attempt-row.js';
import type { LogStore } from '../store/log.store.js';
import type { PoolStore } from '../store/pool.store.js';
import type { RunJob, RunStore } from '../store/run.store.js';
import type { AdmissionSender } from './admission-sender.js';
import { type Abandoned, type FinishInput, type FinishResult, type ReclaimInput, settledAs } from './attempt.js';
import { AttemptRemover, type RemoverDeps } from './attempt-remover.js';
import type { EndedAttempts } from './ended-attempts.js';
import type { HostGuard } from './host-guard.js';
import type { JobLoader } from './job-loader.js';
import type { PauseJudge } from './pause-judge.js';

export interface FinisherDeps extends RemoverDeps {
  pools: Pick<PoolStore, 'waitingUnderQuota'>;
  jobs: Pick<JobLoader, 'load' | 'forget'>;
  runs: Pick<RunStore, 'guards' | 'settleUnplaced'>;
  logs: Pick<LogStore, 'tail'>;
  attempts: Pick<AttemptStore, 'read' | 'recordEnd' | 'settle' | 'closeForRetry' | 'close'> & RemoverDeps['attempts'];
  ended: Pick<EndedAttempts, 'take'>;
  sender: Pick<AdmissionSender, 'send'>;
  host: Pick<HostGuard, 'standing'>;
  pauses: Pick<PauseJudge, 'judge'>;
  /** The limits that jobs are given, for the words of a verdict. */
  timers: { setupSec: number; graderSec: number };
}

/** Of a log, for the words of a verdict: enough for the characters that are shown. */
const TAIL_BYTES = 4_096;

/** Settles an attempt and gives everything back. Every step can be repeated, from wherever a crash left it. */
export class AttemptFinisher {
  private readonly remover: AttemptRemover;

  constructor(private readonly deps: FinisherDeps) {
    this.remover = new AttemptRemover(deps);
  }

  /**
   * 1. the verdict; for infrastructure that broke, another attempt instead,
   * 2. settle: one statement that holds only while this attempt is the run's open one; a stale worker changes nothing,
   * 3. stop, and read back that nothing is left, 4. close the attempt, 5. release the slot.
   * Before another attempt: stop, then one statement that closes this one and lets the run wait again, then release.
   * `triedMs`: for how long this has been tried.
   */
  async finish(input: FinishInput, triedMs: number): Promise<FinishResult> {
    const { runId, attempt: number, end } = input;
    const attempt = this.deps.ended.take(input) ?? (await this.deps.attempts.read(runId, number));
    const job = await this.deps.jobs.load(runId);
    const verdict = await this.explain(attempt, await this.conclude(attempt, job, attempt?.end ?? end));
    const retry = retryOf(verdict, number, job.infraRetries);
    if (!attempt || attempt.closedAt !== undefined) return this.finishClosed({ input, attempt, job, verdict }, retry);
    await this.deps.host.standing(input.kind, attempt.hostId);
    if (!attempt.end) await this.deps.attempts.recordEnd(runId, number, end);
    const finished = { input, attempt, job, verdict };
    if (retry && (await this.makeRoom(finished, triedMs))) return retry;

    const isSettled = await this.deps.attempts.settle(runId, number, verdict);
    if (await this.remover.remove(attempt, job, triedMs)) {
      await this.deps.attempts.close(runId, number);
      await this.release(finished);
      this.deps.jobs.forget(runId);
    }
    await this.unpark(job);
    const earlier = isSettled ? undefined : await this.deps.runs.guards(runId);
    // Another try of this made room just before: the run has no outcome, and goes on.
    if (retry && !isSettled && !earlier?.outcome) return retry;
    return settledAs(earlier, verdict);
  }

  /**
   * Cleans up after a case that is gone, and leaves the lease to the ledger. A record that was stored is still the
   * verdict. The attempt to look at is the open one, or the one that settled the run and was not closed.
   */
  async reclaim({ runId, seq }: ReclaimInput): Promise<void> {
    const { attempts, jobs, runs } = this.deps;
    const guards = await runs.guards(runId);
    const number = guards?.openAttempt ?? guards?.settledAttempt;
    const attempt = number === undefined ? undefined : await attempts.read(runId, number);
    if (!attempt || attempt.closedAt !== undefined || attempt.seq !== (seq ?? attempt.seq)) return;
    const job = await jobs.load(runId);
    await this.deps.host.standing(job.runtime.kind, attempt.hostId);
    // Before the stop: what a stopped job says of itself is no verdict.
    const end: AttemptEnd = { kind: 'failed', failure: TERMINATED };
    const verdict = this.earned(attempt, job, end, guards?.isCancelRequested === true, TERMINATED);
    await attempts.settle(runId, attempt.attempt, verdict);
    try {
      await this.remover.removeNow(attempt, job);
    } catch (error) {
      await attempts.markCleanupPending(runId, attempt.attempt);
      throw error;
    }
    await attempts.close(runId, attempt.attempt);
    await this.unpark(job);
  }

  /**
   * Settles an attempt whose removal gave up: with the verdict it has earned, as far as there is one to compute. It
   * stays open for the sweep and keeps its slot, visibly.
   */
  async abandon({ runId, attempt: number, end, failure }: Abandoned): Promise<FinishResult> {
    const { attempts, jobs, runs } = this.deps;
    const attempt = await attempts.read(runId, number);
    const job = await jobs.load(runId);
    const isCancelRequested = (await runs.guards(runId))?.isCancelRequested === true;
    const verdict = this.earned(attempt, job, attempt?.end ?? end, isCancelRequested, failure);
    if (attempt) await attempts.settle(runId, number, verdict);
    else await runs.settleUnplaced(runId, verdict);
    await attempts.markCleanupPending(runId, number);
    return settledAs(await runs.guards(runId), verdict);
  }

  /** The verdict; where grading itself is what fails, that is the platform's fault, and `failure` says so. */
  private earned(
    attempt: Attempt | undefined,
    job: RunJob,
    end: AttemptEnd,
    isCancelRequested: boolean,
    failure: AttemptFailure,
  ): Verdict {
    try {
      return this.verdictFor(attempt, job, end, isCancelRequested);
    } catch {
      return errored(failure.code, failure.message);
    }
  }

  /** An attempt that was never opened, or was closed before: what is left is to say so and to release. */
  private async finishClosed(finished: Finished, retry: Retry | undefined): Promise<FinishResult> {
    const { runs } = this.deps;
    const { input, verdict } = finished;
    const isSettled = !retry && (await runs.settleUnplaced(input.runId, verdict));
    await this.release(finished);
    const earlier = isSettled ? undefined : await runs.guards(input.runId);
    if (retry && !earlier?.outcome) return retry;
    return settledAs(earlier, verdict);
  }

  /** Ends the attempt so that another can follow; false if this run is not to have another. */
  private async makeRoom(finished: Finished & { attempt: Attempt }, triedMs: number): Promise<boolean> {
    const { input, attempt, job } = finished;
    if (!(await this.remover.removeBeforeRetry(attempt, job, triedMs))) return false;
    if (!(await this.deps.attempts.closeForRetry(input.runId, input.attempt))) return false;
    await this.release(finished);
    await this.unpark(job);
    return true;
  }

  private async conclude(attempt: Attempt | undefined, job: RunJob, end: AttemptEnd): Promise<Verdict> {
    if (!attempt || attempt.record || end.kind === 'cancelled') return this.verdictOf(attempt, job, end);
    const guards = await this.deps.runs.guards(attempt.runId);
    return this.verdictFor(attempt, job, end, guards?.isCancelRequested === true);
  }

  /** Adds what a harness that could not begin said of it: on its stderr, or where a cluster keeps but one stream, there. */
  private async explain(attempt: Attempt | undefined, verdict: Verdict): Promise<Verdict> {
    if (!attempt || verdict.outcome !== 'errored' || verdict.errorClass !== 'harness') return verdict;
    const tail = (stream: LogStream) => this.deps.logs.tail(attempt.runId, attempt.attempt, stream, TAIL_BYTES);
    return withLastWords(verdict, lastWords(await tail('stderr')) || lastWords(await tail('stdout')));
  }

  /** A job that is to be cancelled and left no record is cancelled, whatever else befell it. */
  private verdictFor(attempt: Attempt | undefined, job: RunJob, end: AttemptEnd, isCancelRequested: boolean): Verdict {
    const isUndone = isCancelRequested && attempt !== undefined && !attempt.record;
    return isUndone ? { outcome: 'cancelled' } : this.verdictOf(attempt, job, end);
  }

  private verdictOf(attempt: Attempt | undefined, job: RunJob, end: AttemptEnd): Verdict {
    const { resources, graders, timeoutSec } = job.case;
    const memoryMb = resources?.memoryMb ?? job.harness.resources?.memoryMb;
    return verdictOf({ graders, timeoutSec, end, record: attempt?.record, memoryMb, ...this.deps.timers });
  }

  /**
   * What it no longer runs, its workspace may run elsewhere: ledgers grant it nothing while it has no room. Best effort:
   * each ledger looks by itself now and then.
   */
  private async unpark({ workspaceId, hasQuota }: RunJob): Promise<void> {
    if (!hasQuota) return;
    const message = { acquire: [], release: [], unpark: [workspaceId] };
    try {
      const pools = await this.deps.pools.waitingUnderQuota(workspaceId);
      await Promise.all(pools.map((poolId) => this.deps.sender.send(poolId, message)));
    } catch {
      // Nothing is lost but some seconds.
    }
  }

  /** An attempt that was adopted may hold an earlier lease than the grant it was adopted with. */
  private async release({ input, attempt, job, verdict }: Finished): Promise<void> {
    const { poolId, holder, seq } = input;
    const leases = new Set([seq, attempt?.seq ?? seq]);
    const end = leaseEndOf(verdict);
    const release = [...leases].map((lease) => ({ holder, seq: lease, ...(end && { end }) }));
    await this.deps.sender.send(poolId, { acquire: [], release });
    const isInfra = verdict.outcome === 'errored' && verdict.errorClass === 'infra';
    if (isInfra && job.scorecardId !== undefined) await this.deps.pauses.judge(job.scorecardId);
  }
}

/** An attempt that is over; none was opened where there is no attempt. */
interface Finished {
  input: FinishInput;
  attempt: Attempt | undefined;
  job: RunJob;
  verdict: Verdict;
}

/** What it says of the runtime: nothing where we stopped it, `ran` where the job itself is to blame or none is. */
function leaseEndOf(verdict: Verdict): LeaseEnd | undefined {
  if (verdict.outcome === 'cancelled') return undefined;
  if (verdict.outcome !== 'errored') return 'ran';
  return verdict.errorClass === 'infra' || verdict.errorClass === 'config' ? verdict.errorCode : 'ran';
}

type Retry = Extract<FinishResult, { kind: 'retry' }>;

function retryOf(verdict: Verdict, attempt: number, infraRetries: number): Retry | undefined {
  const step = nextStep(verdict, attempt, infraRetries);
  if (step.kind !== 'retry' || verdict.outcome !== 'errored') return undefined;
  return { kind: 'retry', code: verdict.errorCode, delayMs: step.delayMs };
}
