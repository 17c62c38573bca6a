import type { AdmissionLimits, Release, Ticket } from '../../contracts/admission.js';
import { aTicket } from '../../test/builders.js';
import { randomFor } from '../../test/seeded.js';
import { Ledger } from './ledger.js';
import { replay, TracedLedger } from './trace.js';

/** As it is read from elsewhere. */
const told = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

/** A pool of some workspaces in which cases of all sizes come and go. */
function busyPool(rounds: number): TracedLedger {
  const random = randomFor('trace');
  const traced = new TracedLedger(Ledger.open(1, [], []));
  let limits: AdmissionLimits = { envelope: { slots: 8, memoryMb: 100 }, workspaces: {}, pausedScorecards: [] };
  for (let round = 0; round < rounds; round += 1) {
    const now = round * 10_000;
    const acquire: Ticket[] = Array.from({ length: random(0, 6) }, (_, i) =>
      aTicket({
        ...{ holder: `case:sc_${random(0, 3)}.${round * 10 + i}`, workspace: `team-${random(0, 3)}`, askedAt: now },
        class: random(0, 3) === 0 ? 'interactive' : 'batch',
        demand: { memoryMb: random(0, 4) === 0 ? 90 : random(1, 20) },
        expectedMs: random(1, 50) * 1_000,
      }),
    );
    const release: Release[] = [];
    for (const { holder, seq } of traced.ledger.leases.values()) {
      if (random(0, 2) === 0) release.push({ holder, seq, ...(random(0, 9) === 0 && { isOverQuota: true }) });
    }
    if (random(0, 9) === 0)
      limits = { ...limits, workspaces: { 'team-1': { weight: random(1, 5), maxRunning: random(1, 5) } } };
    traced.receive([{ acquire, release, unpark: random(0, 4) === 0 ? traced.ledger.parked : [] }], now);
    traced.decide(limits, now);
  }
  return traced;
}

test('what a pool decided is decided again by its trace', () => {
  const { trace } = busyPool(150);
  const granted = trace.steps.flatMap((step) => (step.did === 'decide' ? [step.granted] : []));
  expect(granted.flat().length).toBeGreaterThan(100);
  expect(replay(told(trace))).toEqual(granted);
});

test('a long trace begins again at a checkpoint, and is decided the same from there', () => {
  const { trace } = busyPool(600);
  expect(trace.steps.length).toBeLessThan(1_200);
  expect(trace.checkpoint.nextSeq).toBeGreaterThan(1e9);
  expect(replay(told(trace))).toEqual(trace.steps.flatMap((step) => (step.did === 'decide' ? [step.granted] : [])));
});

test('a trace holds no message that is too large for an answer: it begins behind it', () => {
  const traced = new TracedLedger(Ledger.open(1, [], []));
  const limits = { envelope: { slots: 3 }, workspaces: {}, pausedScorecards: [] };
  traced.receive([{ acquire: Array.from({ length: 3_000 }, () => aTicket()), release: [] }], 1);
  traced.decide(limits, 1);
  expect(traced.trace.steps).toHaveLength(1);
  expect(replay(told(traced.trace))).toEqual([[...traced.ledger.leases.keys()]]);
});
