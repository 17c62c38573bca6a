import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { z } from 'zod';
import { withTimeLimit } from '../backends/time-limit.js';
import type { AttemptEnd } from '../contracts/attempt.js';
import { PlatformError } from '../contracts/errors.js';
import type {
  AttemptInput,
  CollectInput,
  DispatchResult,
  FinishInput,
  FinishResult,
  ReclaimInput,
  ShortResult,
} from './attempt.js';
import type { AttemptFinisher } from './attempt-finisher.js';
import type { Progress } from './attempt-follower.js';
import type { AttemptRunner } from './attempt-runner.js';
import { isCancelRequested, withHeartbeat } from './heartbeat.js';
import { serverClock } from './server-clock.js';

interface Deps {
  runner: Pick<AttemptRunner, 'run' | 'resume' | 'abandon'>;
  finisher: Pick<AttemptFinisher, 'finish' | 'reclaim'>;
  /** How long a cluster may be unreachable before the attempt counts as lost to it. */
  unreachableMs: number;
  /** How long one may refuse the credential while a job runs there: what the job printed last waits for so long. */
  refusedMs: number;
}

/** How long a local try waits for a short job. */
const SHORT_MS = 2_000;
/** A local try that saw its end within so long finishes it, too: it may take three seconds in all. */
const FINISH_WITHIN_MS = 1_500;

export type AllocationActivities = ReturnType<typeof createAllocationActivities>;

export function createAllocationActivities({ runner, finisher, unreachableMs, refusedMs }: Deps) {
  /** Follows until the end. The job is stopped only if the workflow asks; else another try goes on with it. */
  const follow = async (
    id: CollectInput,
    work: (signal: AbortSignal, progress: Progress) => Promise<DispatchResult | undefined>,
  ): Promise<DispatchResult> => {
    const { cancellationSignal: signal, info } = Context.current();
    const now = serverClock(info);
    const progress = newProgress(now, reachedBefore(info) ?? info.scheduledTimestampMs);
    try {
      const end = await withHeartbeat(
        () => ({ ...progress, now: undefined }),
        () => work(signal, progress),
      );
      if (end) return end;
    } catch (error) {
      if (!isCancelRequested(signal)) {
        const forMs = now() - progress.reachedAt;
        // A credential is being replaced, or on its way to every server of the cluster: what runs is not given up at once.
        if (isRefused(error) && progress.isSubmitted && forMs < refusedMs) throw passing(error);
        return endIfUnreachable(error, forMs, unreachableMs);
      }
    }
    if (isCancelRequested(signal)) return runner.abandon(id);
    throw handedOver();
  };

  /**
   * Within the try that saw the record, which spares the workflow a step, if there is time for it. What fails here is
   * tried again by `finish`, which is also for ends that may lead to another attempt.
   */
  const finishHere = async (input: AttemptInput, end: AttemptEnd, passedMs: number): Promise<ShortResult> => {
    if (end.kind !== 'record' || passedMs > FINISH_WITHIN_MS) return end;
    try {
      return { kind: 'finished', result: await finisher.finish({ ...input, end }, 0) };
    } catch {
      return end;
    }
  };

  return {
    /**
     * Brings a local job to its end if that takes at most 2 s, and finishes it: open the attempt or find it open, start
     * the job or adopt it, follow. A longer one is left alone, for `dispatch`, which is also what a cancel is for.
     */
    async tryShort(input: AttemptInput): Promise<ShortResult> {
      const { cancellationSignal, info } = Context.current();
      const begun = performance.now();
      const end = await withTimeLimit(cancellationSignal, SHORT_MS, (signal) =>
        runner.run(input, signal, newProgress(serverClock(info))),
      );
      if (end) return end.kind === 'refused' ? end : finishHere(input, end, performance.now() - begun);
      // Also where it is cancelled: so ends a local try whose workflow task is another worker's by now.
      if (cancellationSignal.aborted) throw handedOver();
      return { kind: 'running' };
    },

    /** The same, however long it takes, on any kind of runtime. */
    dispatch: (input: AttemptInput): Promise<DispatchResult> =>
      follow(input, (signal, progress) => runner.run(input, signal, progress)),

    /** Fetches what following missed. */
    collect: (input: CollectInput): Promise<DispatchResult> =>
      follow(input, (signal, progress) => runner.resume(input, signal, progress)),

    /** Settles, removes what the job left, and gives the slot back; or makes room for another attempt. */
    finish: (input: FinishInput): Promise<FinishResult> => {
      const { info } = Context.current();
      const triedMs = serverClock(info)() - info.scheduledTimestampMs;
      return withHeartbeat(
        () => undefined,
        () => finisher.finish(input, triedMs),
      );
    },

    /** Cleans up after a case whose workflow is gone. For local attempts it must run on their host. */
    reclaim: (input: ReclaimInput): Promise<void> =>
      withHeartbeat(
        () => undefined,
        () => finisher.reclaim(input),
      ),
  };
}

const newProgress = (now: () => number, reachedAt = now()): Progress => ({ stdout: 0, stderr: 0, reachedAt, now });

/** When an earlier try of this activity last heard of the cluster. */
function reachedBefore({ heartbeatDetails }: { heartbeatDetails: unknown }): number | undefined {
  return z.object({ reachedAt: z.number() }).safeParse(heartbeatDetails).data?.reachedAt;
}

function endIfUnreachable(error: unknown, forMs: number, limitMs: number): AttemptEnd {
  const isUnreachable = error instanceof PlatformError && error.code === 'CLUSTER_UNREACHABLE';
  if (!isUnreachable || forMs < limitMs) throw error;
  const lasting = forMs < 120_000 ? `${Math.round(forMs / 1_000)} s` : `${Math.round(forMs / 60_000)} minutes`;
  const message = `for ${lasting}: ${error.message}`;
  return { kind: 'failed', failure: { code: 'CLUSTER_UNREACHABLE', message } };
}

const isRefused = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.code === 'CLUSTER_AUTH';

/** The same as what is tried again. */
const passing = ({ message, details }: PlatformError): PlatformError =>
  new PlatformError('CLUSTER_UNREACHABLE', message, details);

/** Fails this try at once, where the server would else wait for its heartbeat to stay away. */
const handedOver = (): ApplicationFailure =>
  ApplicationFailure.create({
    type: 'HandedOver',
    message: 'this worker stops: another goes on with the attempt',
    category: ApplicationFailureCategory.BENIGN,
    // A job that was handed over before does not wait longer for its next worker.
    nextRetryDelay: '100 milliseconds',
  });
