import type { Ticket } from '../contracts/admission.js';
import { carryLedger } from '../policy/admission/carry.js';
import type { Delivery } from '../policy/admission/decision.js';
import { Ledger } from '../policy/admission/ledger.js';
import { type Figures, rounded, type Table } from './figures.js';

const SLOTS = 400;
const ENVELOPE = { slots: SLOTS, memoryMb: SLOTS * 600, cpuMillicores: SLOTS * 250 };
const LIMITS = { envelope: ENVELOPE, workspaces: {}, pausedScorecards: [] };
const MEASURED_MS = 700;
const SCORECARD = 'sc_01k5x9v2c8f3t7q4m6n0w1y2z3';

/** The pure policy alone: slots come free, new tickets arrive, others are granted. A decision is a grant. */
export function benchDecisions(): Figures {
  const rates: Table = {};
  for (const waiting of [1_000, 10_000, 100_000]) {
    for (const runtimes of [1, 20]) {
      for (const workspaces of [1, 100]) {
        rates[`${waiting} waiting, ${runtimes} runtimes, ${workspaces} workspaces`] = rowOf(
          waiting,
          runtimes,
          workspaces,
        );
      }
    }
  }
  const full = carryLedger(Ledger.open(1, [], ticketsFrom(0, 5_000, 1)));
  return {
    'decisions/s': rates,
    'what travels, bytes': {
      '5,000 tickets at continue-as-new': { bytes: JSON.stringify(full).length },
      'a request of 100 tickets': {
        bytes: JSON.stringify({ acquire: ticketsFrom(99_900, 100, 1), release: [] }).length,
      },
    },
  };
}

function rowOf(waiting: number, runtimes: number, workspaces: number): Record<string, number> {
  const row: Record<string, number> = {};
  const pools = Array.from({ length: runtimes }, () => new FullPool(waiting / runtimes, workspaces));
  for (const batch of [1, 20, 200]) {
    const { perSec, p99Us } = measured(pools, batch);
    row[`${batch} at a time`] = perSec;
    row[`p99 µs of ${batch}`] = p99Us;
  }
  return row;
}

/** `p99Us`: of receiving one batch of requests and releases and deciding it. */
function measured(pools: FullPool[], batch: number): { perSec: number; p99Us: number } {
  const tookMs: number[] = [];
  let decisions = 0;
  let spentMs = 0;
  for (let turn = 0; spentMs < MEASURED_MS; turn += 1) {
    const pool = pools[turn % pools.length];
    const next = pool?.nextMessage(batch);
    const began = performance.now();
    if (pool && next) decisions += pool.decide(next);
    const took = performance.now() - began;
    tookMs.push(took);
    spentMs += took;
  }
  tookMs.sort((one, other) => one - other);
  return {
    perSec: rounded((decisions / spentMs) * 1_000),
    p99Us: rounded((tookMs[Math.floor(tookMs.length * 0.99)] ?? 0) * 1_000),
  };
}

/** A pool whose slots are all taken. Its queue is longer than a pool lets it become. */
class FullPool {
  private readonly ledger: Ledger;
  private readonly held: Delivery[] = [];
  private asked: number;

  constructor(
    waiting: number,
    private readonly workspaces: number,
  ) {
    this.asked = waiting + SLOTS;
    this.ledger = Ledger.open(1, [], ticketsFrom(0, this.asked, workspaces));
    while (this.decide({ acquire: [], release: [] }) > 0);
  }

  nextMessage(batch: number) {
    const release = this.held.splice(0, batch).map(({ holder, seq }) => ({ holder, seq }));
    const acquire = ticketsFrom(this.asked, batch, this.workspaces);
    this.asked += batch;
    return { acquire, release };
  }

  decide(message: ReturnType<FullPool['nextMessage']>): number {
    this.ledger.receive([message], 1);
    const { granted } = this.ledger.decide(LIMITS, 1);
    this.held.push(...granted);
    return granted.length;
  }
}

const ticketsFrom = (first: number, count: number, workspaces: number): Ticket[] =>
  Array.from({ length: count }, (_, i) => {
    const workspace = `team-${(first + i) % workspaces}`;
    return {
      holder: `case:${SCORECARD}-${workspace}.${first + i}`,
      to: `window:${SCORECARD}:${Math.floor((first + i) / 500)}`,
      workspace,
      class: 'batch',
      demand: { memoryMb: 500 + (i % 7), cpuMillicores: 250 },
      askedAt: 1_764_446_645_000 + first + i,
    };
  });
