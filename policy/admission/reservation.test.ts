import type { Demand, Release, Ticket } from '../../contracts/admission.js';
import { aTicket } from '../../test/builders.js';
import { type Random, randomFor } from '../../test/seeded.js';
import { Ledger } from './ledger.js';
import { MAX_PASSES } from './reservation.js';

const SECOND = 1_000;
const ENVELOPE = { slots: 8, memoryMb: 100 };
const LIMITS = { envelope: ENVELOPE, workspaces: {}, pausedScorecards: [] };

const mb = (memoryMb: number): Demand => ({ memoryMb });
const holdersOf = (given: { holder: string }[]): string[] => given.map(({ holder }) => holder);

/** A pool in which 90 MB are in use, and a ticket of 50 MB was passed so often that room is kept for it. */
function reserved({ runsMs }: { runsMs?: number } = {}): Ledger {
  const running = { ...aTicket({ holder: 'running', demand: mb(90) }), seq: 1, grantedAt: 0 };
  const leases = [{ ...running, ...(runsMs !== undefined && { expectedMs: runsMs }) }];
  const ledger = Ledger.open(1, leases, [aTicket({ holder: 'heavy', demand: mb(50) })]);
  for (let i = 0; i < MAX_PASSES; i += 1) {
    expect(ledger.reservation).toBeUndefined();
    ask(ledger, aTicket({ holder: `light-${i}`, demand: mb(1) }));
    const [light] = ledger.decide(LIMITS, SECOND).granted;
    give(ledger, light ? [light] : []);
  }
  expect(ledger.reservation).toMatchObject({ holder: 'heavy', since: SECOND, passes: MAX_PASSES });
  return ledger;
}

const ask = (ledger: Ledger, ...acquire: Ticket[]) => ledger.receive([{ acquire, release: [] }], SECOND);
const give = (ledger: Ledger, release: Release[]) => ledger.receive([{ acquire: [], release }], SECOND);
const granted = (ledger: Ledger, limits = LIMITS) => holdersOf(ledger.decide(limits, SECOND).granted);

test('what was passed 16 times is kept room for: others take what is free beyond its demand, and one slot stays free', () => {
  const ledger = reserved();
  ask(ledger, aTicket({ holder: 'light', demand: mb(1) }));
  expect(granted(ledger)).toEqual([]);
  const undeclared = Array.from({ length: 9 }, (_, i) => aTicket({ holder: `undeclared-${i}` }));
  ask(ledger, ...undeclared);
  expect(granted(ledger)).toHaveLength(ENVELOPE.slots - 2);
  give(ledger, [{ holder: 'running', isGone: true }]);
  expect(granted(ledger)).toEqual(['heavy', 'light']);
  expect(ledger.reservation).toBeUndefined();
});

test.each<[string, number | undefined, number | undefined, string[]]>([
  ['a ticket that ends in time', 60 * SECOND, 59 * SECOND, ['light']],
  ['no ticket that ends too late', 60 * SECOND, 60 * SECOND, []],
  ['no ticket whose duration is not known', 60 * SECOND, undefined, []],
  ['none where nobody knows when there will be room', undefined, 1, []],
])('room that is kept is filled with %s', (_title, runsMs, expectedMs, want) => {
  const ledger = reserved({ ...(runsMs !== undefined && { runsMs }) });
  expect(ledger.reservation?.startBy).toBe(runsMs);
  ask(ledger, aTicket({ holder: 'light', demand: mb(1), ...(expectedMs !== undefined && { expectedMs }) }));
  expect(granted(ledger)).toEqual(want);
  if (want.length > 0) expect(ledger.decisions.at(-1)).toMatchObject({ what: 'granted', by: 'back-fill' });
});

test.each<[string, (ledger: Ledger) => typeof LIMITS]>([
  [
    'it is withdrawn',
    (ledger) => {
      give(ledger, [{ holder: 'heavy' }]);
      return LIMITS;
    },
  ],
  ['its workspace is at its quota', () => ({ ...LIMITS, workspaces: { default: { maxRunning: 1 } } })],
  ['a limit for now is below its demand', () => ({ ...LIMITS, dial: { mode: 'open', limits: mb(40) } })],
  ['it asks for more than the runtime has', () => ({ ...LIMITS, envelope: { slots: 8, memoryMb: 40 } })],
])('no room is kept any more once %s', (_title, change) => {
  const ledger = reserved();
  ledger.decide(change(ledger), SECOND);
  expect(ledger.reservation).toBeUndefined();
});

/** Light cases without end, and a heavy one among them: when it got its reservation, when it started. */
function playOut(random: Random, longestMs: number) {
  const ledger = Ledger.open(1, [], []);
  const ends: { holder: string; seq: number; at: number }[] = [];
  let lights = 0;
  let since: number | undefined;
  for (let now = 0; now < 10 * longestMs; now += SECOND) {
    const release = ends.filter(({ at }) => at <= now);
    ends.splice(0, ends.length, ...ends.filter(({ at }) => at > now));
    const acquire: Ticket[] =
      now === 5 * SECOND ? [aTicket({ holder: 'heavy', workspace: 'heavy', demand: mb(100) })] : [];
    for (; ledger.waiting + acquire.length < 12; lights += 1) {
      const [holder, expectedMs] = [`light-${lights}`, random(1, longestMs)];
      acquire.push(aTicket({ holder, demand: mb(random(1, 30)), ...(random(0, 1) && { expectedMs }) }));
    }
    ledger.receive([{ acquire, release }], now);
    for (const { holder, seq } of ledger.decide(LIMITS, now).granted) {
      if (holder === 'heavy') return { since, startedAt: now };
      const { expectedMs = random(1, longestMs) } = ledger.leases.get(holder) ?? {};
      ends.push({ holder, seq, at: now + expectedMs });
    }
    since ??= ledger.reservation?.since;
  }
  throw new Error('it never started');
}

test('a heavy ticket among light ones without end starts no later than the longest of them after it got its reservation', () => {
  const random = randomFor('heavy');
  let reservations = 0;
  for (let round = 0; round < 100; round += 1) {
    const longestMs = random(2, 60) * SECOND;
    const { since, startedAt } = playOut(random, longestMs);
    // Else there was room for it before it was passed so often.
    if (since === undefined) continue;
    reservations += 1;
    expect(startedAt - since).toBeLessThanOrEqual(longestMs + SECOND);
  }
  expect(reservations).toBeGreaterThan(50);
});
