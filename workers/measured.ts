import type { DataSource } from 'typeorm';
import type { Backend } from '../backends/backend.js';
import type { BackendResolver } from '../backends/resolver.js';
import { errored, type Verdict } from '../policy/results.js';
import { TERMINATED } from '../policy/sweep.js';
import { AttemptStore } from '../store/attempt.store.js';
import { type LogChunk, LogStore } from '../store/log.store.js';
import { RunStore } from '../store/run.store.js';
import { SweepStore } from '../store/sweep.store.js';
import { timed, type WorkerMetrics } from './worker-metrics.js';

type Backends = Pick<BackendResolver, 'forHost' | 'use'>;

/** The same backends, their submits and removals timed. */
export function measuredBackends(backends: Backends, metrics: WorkerMetrics): Backends {
  const known = new WeakMap<Backend, Backend>();
  const measure = (backend: Backend): Backend => {
    const measured = known.get(backend) ?? measuredBackend(backend, metrics);
    known.set(backend, measured);
    return measured;
  };
  return {
    forHost: () => measure(backends.forHost()),
    use: (target, work) =>
      backends.use(target, (runtime) => {
        const { spec, zone, credential } = runtime;
        return work({
          ...{ spec, zone, credential },
          get backend() {
            return measure(runtime.backend);
          },
          get cluster() {
            return runtime.cluster;
          },
        });
      }),
  };
}

function measuredBackend(backend: Backend, { dispatch, cleanup, placed }: WorkerMetrics): Backend {
  const { kind } = backend;
  return {
    kind,
    submit: (job, allocation, isLive, signal) =>
      timed(
        (result, seconds) => dispatch.observe({ kind, result }, seconds),
        () => backend.submit(job, allocation, isLive, signal),
        (submitted) => (typeof submitted === 'string' ? submitted : 'unplaced'),
      ),
    stop: (allocation) =>
      timed(
        (result, seconds) => cleanup.observe({ kind, result }, seconds),
        () => backend.stop(allocation),
      ),
    async *watch(allocation, watch) {
      // It is watched as soon as it was handed over; one that was seen to be placed before is not measured.
      let begun = allocation.placedAs === undefined ? performance.now() : undefined;
      for await (const event of backend.watch(allocation, watch)) {
        if (event.kind === 'placed' && begun !== undefined) {
          placed.observe({ kind }, (performance.now() - begun) / 1_000);
          begun = undefined;
        }
        yield event;
      }
    },
    list: (deployment, from) => backend.list(deployment, from),
    provenance: (allocation) => backend.provenance(allocation),
  };
}

/** Counts the verdicts that were written and those that came too late. */
export class MeasuredAttemptStore extends AttemptStore {
  constructor(
    dataSource: DataSource,
    private readonly metrics: WorkerMetrics,
  ) {
    super(dataSource);
  }

  override async settle(runId: string, attempt: number, verdict: Verdict): Promise<boolean> {
    const isSettled = await timed(
      (_result, seconds) => this.metrics.settle.observe(seconds),
      () => super.settle(runId, attempt, verdict),
    );
    if (isSettled) this.metrics.countVerdict(verdict);
    else this.metrics.refused.inc();
    return isSettled;
  }
}

/** Counts the runs that were settled without an attempt. */
export class MeasuredRunStore extends RunStore {
  constructor(
    dataSource: DataSource,
    private readonly metrics: WorkerMetrics,
  ) {
    super(dataSource);
  }

  override async settleUnplaced(id: string, verdict: Verdict): Promise<boolean> {
    const isSettled = await super.settleUnplaced(id, verdict);
    if (isSettled) this.metrics.countVerdict(verdict);
    return isSettled;
  }
}

/** Counts the runs that were settled because their scorecard's workflow is gone. */
export class MeasuredSweepStore extends SweepStore {
  constructor(
    dataSource: DataSource,
    private readonly metrics: WorkerMetrics,
  ) {
    super(dataSource);
  }

  override async settleOrphans(scorecardId: string, reason: string): Promise<number> {
    const settled = await super.settleOrphans(scorecardId, reason);
    this.metrics.countVerdict(errored(TERMINATED.code, reason), settled);
    return settled;
  }
}

/** Counts the bytes that were stored. */
export class MeasuredLogStore extends LogStore {
  constructor(
    dataSource: DataSource,
    private readonly metrics: WorkerMetrics,
  ) {
    super(dataSource);
  }

  override async append(runId: string, attempt: number, chunks: readonly LogChunk[]): Promise<void> {
    await super.append(runId, attempt, chunks);
    for (const { stream, bytes } of chunks) this.metrics.logBytes.inc({ stream }, bytes.length);
  }
}
