import { Gauge, type Registry } from 'prom-client';
import { ErrorClass } from '../../contracts/attempt.js';
import { Outcome } from '../../contracts/run.js';
import type { OutboxBacklog, PoolUse, RunGroup } from '../../store/census.store.js';

/** Runtimes with series of their own: those with most in use and waiting. */
const MAX_RUNTIMES = 100;
/** The sum of all others; no workspace or runtime can have this name. */
const OTHERS = '_others';
const MIB = 1_024 * 1_024;

const BOUND = `The ${MAX_RUNTIMES} busiest runtimes have series of their own, "${OTHERS}" is the sum of the rest.`;

/** Name, meaning and value of each metric of a runtime; a limit that is absent has no series. */
const PER_RUNTIME: [name: string, help: string, read: (use: PoolUse) => number | null][] = [
  [
    'everdict_admission_slots_used',
    'Attempts that are not closed, from the database: each holds a slot until its removal is confirmed, and none before it is opened.',
    ({ usedSlots }) => usedSlots,
  ],
  ['everdict_admission_slots_limit', 'Slots of the latest version.', ({ slots }) => slots],
  [
    'everdict_admission_memory_used_bytes',
    'Memory that attempts which are not closed declare.',
    ({ usedMemoryMb }) => usedMemoryMb * MIB,
  ],
  [
    'everdict_admission_memory_limit_bytes',
    'Limit of the sum of declared memory, where there is one.',
    ({ memoryMb }) => memoryMb && memoryMb * MIB,
  ],
  [
    'everdict_admission_cpu_used_cores',
    'CPU that attempts which are not closed declare.',
    ({ usedCpuMillicores }) => usedCpuMillicores / 1_000,
  ],
  [
    'everdict_admission_cpu_limit_cores',
    'Limit of the sum of declared CPU, where there is one.',
    ({ cpuMillicores }) => cpuMillicores && cpuMillicores / 1_000,
  ],
  [
    'everdict_admission_waiting_runs',
    'Runs that have asked for a slot, from the database; those between two attempts included.',
    ({ waiting }) => waiting,
  ],
  [
    'everdict_admission_oldest_wait_seconds',
    'For how long the run that asked first has waited; 0 if none waits.',
    ({ oldestWaitSec }) => oldestWaitSec,
  ],
  [
    'everdict_attempts_cleanup_pending',
    'Attempts whose removal the cluster has not confirmed; each keeps its slot.',
    ({ cleanupPending }) => cleanupPending,
  ],
];

/** State of the platform as the database has it; every API process says the same. */
export class StateGauges {
  private readonly runs: Gauge<'state' | 'outcome' | 'error_class'>;
  private readonly entries: Gauge<'kind'>;
  private readonly age: Gauge<'kind'>;
  private readonly perRuntime: [Gauge<'workspace' | 'runtime'>, (use: PoolUse) => number | null][];

  constructor(private readonly registry: Registry) {
    this.runs = this.gauge(
      'everdict_runs',
      'Runs of all workspaces by state; settled ones by outcome and who is to blame.',
      ['state', 'outcome', 'error_class'],
    );
    this.entries = this.gauge('everdict_outbox_entries', 'What is stored and has no workflow yet.', ['kind']);
    this.age = this.gauge('everdict_outbox_age_seconds', 'Age of the oldest scorecard or run without a workflow.', [
      'kind',
    ]);
    this.perRuntime = PER_RUNTIME.map(([name, help, read]) => [
      this.gauge(name, `${help} ${BOUND}`, ['workspace', 'runtime']),
      read,
    ]);
    this.showRuns([]);
    this.showOutbox([]);
  }

  private gauge<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  /** Every combination there can be, so that none appears out of nothing. */
  showRuns(groups: readonly RunGroup[]): void {
    for (const state of ['queued', 'waiting', 'running']) this.runs.set({ state, outcome: '', error_class: '' }, 0);
    for (const outcome of Outcome.options) {
      for (const error_class of outcome === 'errored' ? ErrorClass.options : ['']) {
        this.runs.set({ state: 'settled', outcome, error_class }, 0);
      }
    }
    for (const { state, outcome, errorClass, count } of groups) {
      this.runs.set({ state, outcome: outcome ?? '', error_class: errorClass ?? '' }, count);
    }
  }

  showOutbox(backlog: readonly OutboxBacklog[]): void {
    for (const { kind, entries, ageSec } of [...NO_BACKLOG, ...backlog]) {
      this.entries.set({ kind }, entries);
      this.age.set({ kind }, ageSec);
    }
  }

  showPools(pools: readonly PoolUse[]): void {
    for (const [gauge, read] of this.perRuntime) {
      gauge.reset();
      pools.forEach((pool, index) => {
        const value = read(pool);
        if (value === null) return;
        if (index < MAX_RUNTIMES) gauge.set({ workspace: pool.workspaceId, runtime: pool.runtimeId }, value);
        else gauge.inc({ workspace: OTHERS, runtime: OTHERS }, value);
      });
    }
  }
}

const NO_BACKLOG: readonly OutboxBacklog[] = [
  { kind: 'scorecard', entries: 0, ageSec: 0 },
  { kind: 'run', entries: 0, ageSec: 0 },
];
