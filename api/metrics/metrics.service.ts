import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { JsonLog } from '../../config/log.js';
import { exposition } from '../../config/registry.js';
import { CensusStore } from '../../store/census.store.js';
import { InvariantStore, ROW_INVARIANTS } from '../../store/invariant.store.js';
import { PredictionStore } from '../../store/prediction.store.js';
import { AuditService } from '../admission/audit.service.js';
import { EstimateGauges } from './estimate-gauges.js';
import { Reading } from './reading.js';
import { StateGauges } from './state-gauges.js';

const STATE_EVERY_MS = 10_000;
const CHECK_EVERY_MS = 60_000;
/** A scrape that would take longer shows what was read before. */
const SCRAPE_WAIT_MS = 2_000;
/** Ids that one line of the log names. */
const NAMED = 10;

const DRIFT = ['lease_without_attempt', 'attempt_without_lease'] as const;

/** What `/metrics` shows of the platform's state, and the checks of what must always hold. */
@Injectable()
export class MetricsService implements OnModuleInit, OnModuleDestroy {
  private readonly readings: Reading[];
  private readonly checks: Reading[];
  private readonly violations: Gauge<'invariant'>;
  private readonly drift: Gauge;
  private readonly errors: Counter<'source'>;
  private readonly age: Gauge<'source'>;
  private readonly duration: Gauge<'source'>;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly log: JsonLog,
    census: CensusStore,
    private readonly invariants: InvariantStore,
    private readonly audits: AuditService,
    predictions: PredictionStore,
  ) {
    const registers = [registry];
    const labelNames = ['source'] as const;
    this.violations = new Gauge({
      name: 'everdict_invariant_violations',
      help: 'What must never be, counted at the last check, which is made each minute: 0.',
      labelNames: ['invariant'],
      registers,
    });
    this.drift = new Gauge({
      name: 'everdict_admission_drift',
      help: 'Slots that a ledger has and no attempt, and attempts that no ledger has, for over a minute: 0.',
      registers,
    });
    this.errors = new Counter({
      name: 'everdict_scrape_errors_total',
      help: 'Readings of this source that failed; its series then show what was read before.',
      labelNames,
      registers,
    });
    this.age = new Gauge({
      name: 'everdict_scrape_age_seconds',
      help: 'How old the series of this source are.',
      labelNames,
      registers,
    });
    this.duration = new Gauge({
      name: 'everdict_scrape_duration_seconds',
      help: 'How long the last reading of this source took; it is repeated after 20 times as long at the earliest.',
      labelNames,
      registers,
    });
    for (const invariant of [...ROW_INVARIANTS, ...DRIFT]) this.violations.set({ invariant }, 0);

    const gauges = new StateGauges(registry);
    const estimates = new EstimateGauges(registry);
    this.checks = [
      this.reading('invariants', CHECK_EVERY_MS, () => this.checkRows()),
      this.reading('ledgers', CHECK_EVERY_MS, () => this.checkLedgers()),
    ];
    this.readings = [
      this.reading('runs', STATE_EVERY_MS, async () => gauges.showRuns(await census.runs())),
      this.reading('admission', STATE_EVERY_MS, async () => gauges.showPools(await census.pools())),
      this.reading('outbox', STATE_EVERY_MS, async () => gauges.showOutbox(await census.outbox())),
      this.reading('estimates', CHECK_EVERY_MS, async () => estimates.show(await predictions.coverage())),
      ...this.checks,
    ];
  }

  onModuleInit(): void {
    // Also where nobody scrapes: a violation is worth a line in the log.
    this.timer = setInterval(() => void this.refresh(this.checks), CHECK_EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  async expose(): Promise<string> {
    await this.refresh(this.readings);
    for (const { name, ageMs, durationMs } of this.readings) {
      this.age.set({ source: name }, ageMs / 1_000);
      this.duration.set({ source: name }, durationMs / 1_000);
    }
    return exposition(this.registry);
  }

  private async refresh(readings: readonly Reading[]): Promise<void> {
    await Promise.all(readings.map((reading) => reading.refresh(SCRAPE_WAIT_MS)));
  }

  private reading(name: string, everyMs: number, read: () => Promise<void>): Reading {
    this.errors.inc({ source: name }, 0);
    return new Reading(name, everyMs, read, (error) => this.fail(name, error));
  }

  private fail(source: string, error: unknown): void {
    this.errors.inc({ source });
    this.log.warn('metrics could not be read', { source, error });
  }

  private async checkRows(): Promise<void> {
    const found = await this.invariants.violations();
    for (const invariant of ROW_INVARIANTS) this.show(invariant, found[invariant]);
  }

  private async checkLedgers(): Promise<void> {
    const { pools, unread, drift } = await this.audits.read();
    // What is not known leaves it as it was, and older.
    if (drift !== null) this.drift.set(drift);
    this.show(
      'lease_without_attempt',
      pools.flatMap(({ leasesWithoutAttempt }) => leasesWithoutAttempt.map(({ runId }) => runId)),
    );
    this.show(
      'attempt_without_lease',
      pools.flatMap(({ attemptsWithoutLease }) => attemptsWithoutLease.map(({ runId }) => runId)),
    );
    const [first] = unread;
    if (first) throw new Error(`${unread.length} ledgers did not answer, among them ${first.pool}: ${first.reason}`);
  }

  private show(invariant: string, ids: readonly string[]): void {
    this.violations.set({ invariant }, ids.length);
    if (ids.length > 0) {
      this.log.error('invariant violated', { invariant, count: ids.length, ids: ids.slice(0, NAMED) });
    }
  }
}
