import type { DataSource } from 'typeorm';
import { ascending, quantileOf, thinned } from '../policy/quantiles.js';
import { boundedRead } from './bounded.js';
import type { DurationKey } from './pool-rows.js';
import { rows } from './sql.js';

/** What durations were seen with. */
export type DurationSource = 'harness and dataset' | 'harness' | 'runtime';

/** How long cases held their slot, ms. */
export interface KnownDurations {
  source: DurationSource;
  /** So many attempts were looked at. */
  attempts: number;
  /** Sorted: at most 200 of them, of the same distribution. */
  sampleMs: readonly number[];
  p50Ms: number;
  p90Ms: number;
}

/** Attempts that are looked at, the latest. */
const MOST_ATTEMPTS = 500;
const MOST_VALUES = 200;
/** Fewer say nothing. */
const ENOUGH = 5;
/** Scorecards that are looked at for them. */
const MOST_SCORECARDS = 20;
const FRESH_MS = 30_000;
const STATEMENT_MS = 1_000;
/** Answers that are kept. */
const MOST_KEPT = 1_000;

const MS = '(extract(epoch FROM a.closed_at - a.opened_at) * 1000)::float8 AS ms';
/** A cancelled one says when somebody had enough of it. */
const COUNTS = `a.closed_at IS NOT NULL AND a.end_kind IS DISTINCT FROM 'cancelled'`;

const ofScorecards = (condition: string): string => `
  SELECT ${MS} FROM (SELECT id FROM scorecards WHERE ${condition} ORDER BY id DESC LIMIT ${MOST_SCORECARDS}) s
  CROSS JOIN LATERAL (
    SELECT id FROM runs WHERE scorecard_id = s.id AND settled_xid IS NOT NULL AND carried_from IS NULL
    ORDER BY settled_xid DESC, ordinal DESC LIMIT ${MOST_ATTEMPTS}
  ) r
  JOIN attempts a ON a.run_id = r.id AND ${COUNTS} LIMIT ${MOST_ATTEMPTS}`;

const OF_DATASET = ofScorecards('harness_pk = $1 AND dataset_pk = $2');

const OF_HARNESS = `(${ofScorecards('harness_pk = $1')}) UNION ALL (
  SELECT ${MS} FROM (
    SELECT id FROM runs WHERE harness_pk = $1 AND scorecard_id IS NULL ORDER BY id DESC LIMIT ${MOST_ATTEMPTS}
  ) r
  JOIN attempts a ON a.run_id = r.id AND ${COUNTS} LIMIT ${MOST_ATTEMPTS})`;

const OF_RUNTIME = `SELECT ${MS} FROM (
    SELECT * FROM attempts WHERE pool_id = $1 ORDER BY seq DESC LIMIT ${2 * MOST_ATTEMPTS}
  ) a WHERE ${COUNTS} LIMIT ${MOST_ATTEMPTS}`;

/** How long cases are likely to hold their slot, by those that did; undefined where fewer than five are known. What was read is kept for 30 s, also that a read failed. */
export class DurationStore {
  private readonly kept = new Map<string, { at: number; reading: Promise<KnownDurations | undefined> }>();

  constructor(private readonly dataSource: DataSource) {}

  /** Of the same harness and dataset; where too few are known, of the same harness, then of whatever ran on that runtime. */
  async of({ poolId, harnessPk, datasetPk }: DurationKey): Promise<KnownDurations | undefined> {
    const steps: [DurationSource, string, unknown[]][] = [
      ...(datasetPk === undefined
        ? []
        : [['harness and dataset', OF_DATASET, [harnessPk, datasetPk]] as [DurationSource, string, unknown[]]]),
      ['harness', OF_HARNESS, [harnessPk]],
      ['runtime', OF_RUNTIME, [poolId]],
    ];
    for (const [source, sql, params] of steps) {
      const known = await this.read(source, sql, params);
      if (known) return known;
    }
    return undefined;
  }

  private read(source: DurationSource, sql: string, params: unknown[]): Promise<KnownDurations | undefined> {
    const key = [source, ...params].join(' ');
    const known = this.kept.get(key);
    if (known && Date.now() - known.at < FRESH_MS) return known.reading;
    const reading = boundedRead(this.dataSource, STATEMENT_MS, async (db) => {
      const found = await rows<{ ms: number }>(db, sql, params);
      return knownBy(source, ascending(found.map(({ ms }) => Math.max(1, ms))));
    });
    reading.catch(() => undefined);
    this.kept.delete(key);
    this.kept.set(key, { at: Date.now(), reading });
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return reading;
  }
}

function knownBy(source: DurationSource, values: readonly number[]): KnownDurations | undefined {
  if (values.length < ENOUGH) return undefined;
  const at = (p: number): number => Math.round(quantileOf(values, p) ?? 0);
  return { source, attempts: values.length, sampleMs: thinned(values, MOST_VALUES), p50Ms: at(0.5), p90Ms: at(0.9) };
}
