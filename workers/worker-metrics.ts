import { Counter, Histogram } from 'prom-client';
import { createRegistry } from '../config/registry.js';
import { RUN_ERROR_CODES } from '../contracts/attempt.js';
import type { Verdict } from '../policy/results.js';

const EFFECT_BUCKETS_SEC = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** An activity that follows a job takes as long as the job. */
const ACTIVITY_BUCKETS_SEC = [0.01, 0.05, 0.25, 1, 2.5, 10, 60, 600, 3_600, 86_400];

/** What one worker process did since it started. */
export class WorkerMetrics {
  readonly registry = createRegistry();
  private readonly registers = [this.registry];

  readonly dispatch = new Histogram({
    name: 'everdict_dispatch_duration_seconds',
    help: 'Handing a job to its cluster, until the cluster confirms it or refuses.',
    labelNames: ['kind', 'result'],
    buckets: EFFECT_BUCKETS_SEC,
    registers: this.registers,
  });

  readonly settle = new Histogram({
    name: 'everdict_settle_duration_seconds',
    help: 'Storing the verdict of an attempt, until it is committed.',
    buckets: EFFECT_BUCKETS_SEC,
    registers: this.registers,
  });

  readonly cleanup = new Histogram({
    name: 'everdict_cleanup_duration_seconds',
    help: 'Removing the allocation of an attempt and reading back that it is gone.',
    labelNames: ['kind', 'result'],
    buckets: EFFECT_BUCKETS_SEC,
    registers: this.registers,
  });

  readonly activity = new Histogram({
    name: 'everdict_activity_duration_seconds',
    help: 'Tries of activities, by name and how they ended; dispatch and collect take as long as the job they follow.',
    labelNames: ['activity', 'result'],
    buckets: ACTIVITY_BUCKETS_SEC,
    registers: this.registers,
  });

  readonly settled = new Counter({
    name: 'everdict_settled_runs_total',
    help: 'Runs that a worker settled. Those that a deadline, an operator or a cancel ended without it are not among them.',
    labelNames: ['outcome', 'error_class', 'error_code'],
    registers: this.registers,
  });

  readonly refused = new Counter({
    name: 'everdict_settles_refused_total',
    help: 'Verdicts of attempts that were not the open one any more, repeats after a crash included: nothing was written.',
    registers: this.registers,
  });

  readonly logBytes = new Counter({
    name: 'everdict_log_bytes_total',
    help: 'Output of jobs that was stored.',
    labelNames: ['stream'],
    registers: this.registers,
  });

  readonly skippedClusters = new Counter({
    name: 'everdict_sweep_skipped_clusters_total',
    help: 'Clusters that a sweep could not look at for leftovers, by the code of why; the next sweep does.',
    labelNames: ['kind', 'code'],
    registers: this.registers,
  });

  readonly placed = new Histogram({
    name: 'everdict_placed_duration_seconds',
    help: 'From when a cluster was handed a job until it was seen to place it on a node.',
    labelNames: ['kind'],
    buckets: EFFECT_BUCKETS_SEC,
    registers: this.registers,
  });

  readonly scrapeErrors = new Counter({
    name: 'everdict_scrape_errors_total',
    help: 'Readings of this source that failed; its series are then missing from the answer.',
    labelNames: ['source'],
    registers: this.registers,
  });

  constructor() {
    for (const outcome of ['passed', 'failed', 'cancelled']) {
      this.settled.inc({ outcome, error_class: '', error_code: '' }, 0);
    }
    for (const [error_code, error_class] of Object.entries(RUN_ERROR_CODES)) {
      this.settled.inc({ outcome: 'errored', error_class, error_code }, 0);
    }
    this.scrapeErrors.inc({ source: 'sdk' }, 0);
    for (const stream of ['stdout', 'stderr']) this.logBytes.inc({ stream }, 0);
    for (const kind of ['nomad', 'k8s']) {
      this.placed.zero({ kind });
      this.skippedClusters.inc({ kind, code: 'CLUSTER_UNREACHABLE' }, 0);
    }
  }

  countVerdict(verdict: Verdict, runs = 1): void {
    const isErrored = verdict.outcome === 'errored';
    const labels = {
      outcome: verdict.outcome,
      error_class: isErrored ? verdict.errorClass : '',
      error_code: isErrored ? verdict.errorCode : '',
    };
    this.settled.inc(labels, runs);
  }
}

/** Times `work`; `resultOf` names how it ended, a throw is `error`. */
export async function timed<T>(
  observe: (result: string, seconds: number) => void,
  work: () => Promise<T>,
  resultOf: (value: T) => string = () => 'ok',
): Promise<T> {
  const begun = performance.now();
  let result = 'error';
  try {
    const value = await work();
    result = resultOf(value);
    return value;
  } finally {
    observe(result, (performance.now() - begun) / 1_000);
  }
}
