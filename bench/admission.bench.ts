import type { Ticket } from '../contracts/admission.js';
import { carryLedger } from '../policy/admission/carry.js';
import { type Delivery, Ledger } from '../policy/admission/ledger.js';
import { fairness, heavyAgainstLight } from './fairness.js';
import { type Figures, rounded, type Table } from './figures.js';
import { benchIsolation } from './isolation.bench.js';
import type { BenchPlatform } from './platform.js';
import { publishedScenario } from './published-scenario.js';

const SLOTS = 400;
const ENVELOPE = { slots: SLOTS, memoryMb: SLOTS * 600, cpuMillicores: SLOTS * 250 };
const LIMITS = { envelope: ENVELOPE, workspaces: {}, pausedScorecards: [] };
const MEASURED_MS = 2_000;
const SCORECARD = 'sc_01k5x9v2c8f3t7q4m6n0w1y2z3';

/** How fast the policy decides, how well it orders and packs, and what a full runtime costs an idle one. */
export async function benchAdmission(platform: BenchPlatform): Promise<Figures> {
  return {
    ...decisionRates(),
    'a published scenario, seconds: wall, and mean wait by size': publishedScenario(),
    fairness: fairness(),
    'a heavy case against a stream of light ones': heavyAgainstLight(),
    ...(await benchIsolation(platform)),
  };
}

/** The pure policy alone: slots come free, new tickets arrive, others are granted. A decision is a grant. */
function decisionRates(): Figures {
  const rates: Table = {};
  for (const waiting of [5_000, 100_000]) {
    const row: Record<string, number> = {};
    for (const batch of [1, 20, 200]) row[`${batch} at a time`] = decisionsPerSec(waiting, batch);
    rates[`${waiting} waiting`] = row;
  }
  const full = carryLedger(Ledger.open(1, [], ticketsFrom(0, 5_000)));
  return {
    'decisions/s': rates,
    'what travels, bytes': {
      '5,000 tickets at continue-as-new': { bytes: JSON.stringify(full).length },
      'a request of 100 tickets': {
        bytes: JSON.stringify({ acquire: ticketsFrom(99_900, 100), release: [] }).length,
      },
    },
  };
}

function decisionsPerSec(waiting: number, batch: number): number {
  // Longer than a pool lets its queue become.
  const ledger = Ledger.open(1, [], ticketsFrom(0, waiting));
  const held: Delivery[] = [];
  const decide = (): number => {
    const { granted } = ledger.decide(LIMITS, 1);
    held.push(...granted);
    return granted.length;
  };
  while (decide() > 0);
  let decisions = 0;
  let asked = waiting;
  const began = performance.now();
  while (performance.now() - began < MEASURED_MS) {
    const release = held.splice(0, batch).map(({ holder, seq }) => ({ holder, seq }));
    ledger.receive([{ acquire: ticketsFrom(asked, batch), release }], 1);
    asked += batch;
    decisions += decide();
  }
  return rounded((decisions / (performance.now() - began)) * 1_000);
}

const ticketsFrom = (first: number, count: number): Ticket[] =>
  Array.from({ length: count }, (_, i) => ({
    holder: `case:${SCORECARD}.${first + i}`,
    to: `window:${SCORECARD}:${Math.floor((first + i) / 500)}`,
    workspace: 'default',
    class: 'batch',
    demand: { memoryMb: 500 + (i % 7), cpuMillicores: 250 },
    askedAt: 1_764_446_645_000 + first + i,
  }));
