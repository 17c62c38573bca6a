import type { LeaseEnd } from '../../contracts/admission.js';
import type { CircuitView } from '../../contracts/admission-view.js';

/** Failures of the runtime itself, whatever was to run there. A bad image or a job's own fault is none of them. */
const COUNTED: ReadonlySet<LeaseEnd> = new Set<LeaseEnd>(['CLUSTER_UNREACHABLE', 'CLUSTER_AUTH', 'NODE_LOST']);
/** So many in a row open it, of at least so many runs: one run alone never does. */
const FAILURES = 3;
const RUNS = 2;
const OPEN_MS = 30_000;
/** A probe that is silent for so long is looked at, and each time anew: one whose job runs is a good one. */
const PROBE_MS = 60_000;

/** What a circuit is made of. */
export interface CircuitState {
  /** In a row. */
  failures: number;
  /** Some of those they were of, as many as matter. */
  failed: readonly string[];
  /** Open until then, epoch ms; after that, one lease is a probe. */
  openUntil?: number;
  /** Looked at then, epoch ms, if it has not ended. */
  probe?: { holder: string; lookAt: number };
}

const CLOSED: CircuitState = { failures: 0, failed: [] };

/**
 * Keeps work from a runtime that does not work. It changes in place, and knows no clock.
 *
 *   closed ── third failure in a row, of two runs ──→ open ── 30 s ──→ one grant: probing
 *      ↑ ←──────── the probe ran, or its job runs after 60 s, or failed of something else ─┤
 *                                    open ←── the probe failed of the runtime ─────────────┘
 *
 * A probe that gives its lease back without an attempt leaves its turn to the next. Silence alone says nothing: it may
 * take half an hour until a job counts as lost. While it is not closed, only the probe's end counts: what ends meanwhile
 * was begun before.
 */
export class Circuit {
  constructor(private current: CircuitState = CLOSED) {}

  get state(): CircuitState {
    return this.current;
  }

  /** How many may be granted now. */
  room(now: number): number {
    const { openUntil, probe } = this.current;
    if (openUntil === undefined) return Number.POSITIVE_INFINITY;
    return probe || now < openUntil ? 0 : 1;
  }

  /** A lease was granted. */
  granted(holder: string, now: number): void {
    if (this.current.openUntil !== undefined) this.lookLater(holder, now);
  }

  /** A lease ended, by an attempt or without one. */
  ended(holder: string, end: LeaseEnd | undefined, now: number): void {
    const { current } = this;
    const { openUntil, probe, failures, failed } = current;
    const isFailure = end !== undefined && COUNTED.has(end);
    if (openUntil !== undefined) {
      if (probe?.holder !== holder) return;
      if (isFailure) this.current = { failures: failures + 1, failed, openUntil: now + OPEN_MS };
      else this.current = end === undefined ? { failures, failed, openUntil } : CLOSED;
    } else if (end === 'ran') this.current = CLOSED;
    else if (isFailure) this.current = counted(current, holder, now);
  }

  /** The holder of a probe whose silence is to be explained. */
  silent(now: number): string | undefined {
    const { probe } = this.current;
    return probe && now >= probe.lookAt ? probe.holder : undefined;
  }

  /** Whether the job of the probe runs, as somebody found. */
  looked(holder: string, isRunning: boolean, now: number): void {
    if (this.current.probe?.holder !== holder) return;
    if (isRunning) this.reset();
    else this.lookLater(holder, now);
  }

  reset(): void {
    this.current = CLOSED;
  }

  /** When it changes by itself, epoch ms. */
  changesAt(now: number): number | undefined {
    const { openUntil, probe } = this.current;
    if (probe) return probe.lookAt;
    return openUntil !== undefined && now < openUntil ? openUntil : undefined;
  }

  get view(): CircuitView {
    const { failures, openUntil, probe } = this.current;
    if (openUntil === undefined) return { state: 'closed', failures, until: null };
    if (probe) return { state: 'probing', failures, until: null };
    return { state: 'open', failures, until: new Date(openUntil).toISOString() };
  }

  private lookLater(holder: string, now: number): void {
    this.current = { ...this.current, probe: { holder, lookAt: now + PROBE_MS } };
  }
}

function counted({ failures: before, failed: earlier }: CircuitState, holder: string, now: number): CircuitState {
  const failures = before + 1;
  const failed = [...new Set([...earlier, holder])].slice(0, RUNS);
  const isOpened = failures >= FAILURES && failed.length >= RUNS;
  return { failures, failed, ...(isOpened && { openUntil: now + OPEN_MS }) };
}
