import fc from 'fast-check';
import type { AdmissionLimits, Demand, Lease, Ticket } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { aTicket } from '../../test/builders.js';
import { ascending } from '../quantiles.js';
import { uniformAt } from '../uniform.js';
import { type Backlog, type Course, fateName, type Grouped, type Load } from './load.js';
import { peakOf, type Simulated, simulate, spreadOf, startOf, unpaused, waitsBy } from './simulate.js';

const NOW = 1_000_000;
const limitsOf = (envelope: Envelope): AdmissionLimits => ({ envelope, workspaces: {}, pausedScorecards: [] });

const aBacklog = (parts: Partial<Backlog> = {}): Backlog => ({
  ...{ scorecard: 'sc_a', workspace: 'default', class: 'batch', count: 10, demands: [{}], group: 'g' },
  ...parts,
});
const tickets = (count: number, parts: Partial<Ticket> = {}, group = 'g'): Grouped<Ticket>[] =>
  Array.from({ length: count }, (_, i) => ({
    ...aTicket({ holder: `case:sc_t.${i}`, askedAt: NOW, ...parts }),
    group,
  }));
const leases = (count: number, grantedAt = NOW, demand: Demand = {}): Grouped<Lease>[] =>
  tickets(count, { demand }).map((ticket, i) => ({
    ...ticket,
    ...{ holder: `case:sc_l.${i}`, seq: i + 1, grantedAt },
  }));
const aLoad = (parts: Partial<Load> & { envelope?: Envelope } = {}): Load => ({
  ...{ now: NOW, limits: limitsOf(parts.envelope ?? { slots: 2 }), leases: [], tickets: [], backlogs: [] },
  samples: { g: [1_000] },
  ...parts,
});
const run = (load: Load, seed = 1, replications = 30): Simulated => unpaused(simulate(load, { seed, replications }));
const casesOf = ({ fates }: Course): number =>
  [...fates.values()].reduce((sum, { waitsMs }) => sum + waitsMs.length, 0);

test('cases of one duration run in rounds of as many as there are slots', () => {
  const { courses } = run(aLoad({ backlogs: [aBacklog({ count: 9 })] }));
  expect(courses).toHaveLength(30);
  for (const { endMs, fates } of courses) {
    expect(endMs).toBe(5_000);
    expect(ascending(fates.get(fateName('default', 'sc_a'))?.waitsMs ?? [])).toEqual([
      0, 0, 1_000, 1_000, 2_000, 2_000, 3_000, 3_000, 4_000,
    ]);
  }
});

test('what runs already ends after what is left of its time, and what has outlived all that is known takes as long again', () => {
  const young = run(aLoad({ envelope: { slots: 1 }, leases: leases(1, NOW - 400), tickets: tickets(1) }));
  const old = run(aLoad({ envelope: { slots: 1 }, leases: leases(1, NOW - 9_000), tickets: tickets(1) }));
  expect(startOf(young, 'case:sc_t.0')).toEqual({ p50: 600, p90: 600 });
  expect(startOf(old, 'case:sc_t.0')).toEqual({ p50: 1_000, p90: 1_000 });
});

test('live session pools have room for every case', () => {
  const pooled = tickets(2, { demand: { sessionPool: 'acme/browse' } });
  const backlogs = [aBacklog({ count: 2, demands: [{ sessionPool: 'acme/browse' }] })];
  const load = aLoad({ tickets: pooled, backlogs });
  expect(startOf(run(load), 'case:sc_t.0')).toEqual({ p50: 0, p90: 0 });
  expect(run(load).courses.map(casesOf)).toEqual(Array(30).fill(4));
});

test('what depends on a duration that nobody knows is never said to start, and the rest is', () => {
  const queue = [...tickets(1, { holder: 'case:sc_t.a' }, 'unknown'), ...tickets(1, { holder: 'case:sc_t.b' })];
  const load = aLoad({ envelope: { slots: 1 }, tickets: queue });
  expect(startOf(run(load), 'case:sc_t.a')).toEqual({ p50: 0, p90: 0 });
  expect(startOf(run(load), 'case:sc_t.b')).toEqual({ p50: null, p90: null });
  expect(spreadOf(run(load).courses.map(({ endMs }) => endMs))).toEqual({ p50: null, p90: null });
});

test('a dial that ends by itself is waited for, one that does not is waited for in vain', () => {
  const paused = (until?: number): AdmissionLimits => ({
    ...limitsOf({ slots: 1 }),
    dial: { mode: 'paused', limits: {}, ...(until !== undefined && { until }) },
  });
  const at = (limits: AdmissionLimits) => startOf(run(aLoad({ limits, tickets: tickets(1) })), 'case:sc_t.0').p50;
  expect([at(paused(NOW + 7_000)), at(paused())]).toEqual([7_000, null]);
});

test('a scorecard keeps to its own concurrency, and what it has in flight already counts', () => {
  const backlogs = [aBacklog({ scorecard: 'sc_t', count: 4, concurrency: 2 })];
  const load = aLoad({ envelope: { slots: 9 }, tickets: tickets(1), backlogs });
  expect(run(load).courses[0]?.endMs).toBe(3_000);
  expect(peakOf(run(load)).slots).toBe(2);
});

test('cases above the whole envelope are refused and keep nobody', () => {
  const envelope = { slots: 2, memoryMb: 100 };
  const queue = [...tickets(1, { holder: 'case:sc_t.x', demand: { memoryMb: 101 } }), ...tickets(2)];
  const { courses } = run(aLoad({ envelope, tickets: queue }));
  expect(courses[0]).toMatchObject({ endMs: 1_000, refused: 1 });
  expect(courses[0]?.starts.size).toBe(2);
});

test('waits are told by workspace, under the name it is given', () => {
  const backlogs = ['a', 'b', 'c'].map((name) => aBacklog({ scorecard: `sc_${name}`, workspace: name, count: 3 }));
  const named = waitsBy(run(aLoad({ backlogs })), (workspace) => (workspace === 'a' ? 'a' : 'others'));
  expect(named.map(({ workspace, cases }) => [workspace, cases])).toEqual([
    ['others', 6],
    ['a', 3],
  ]);
});

test('a large backlog is simulated in groups, which changes neither how many there are nor, by much, how long it takes', () => {
  const load = aLoad({ envelope: { slots: 50 }, backlogs: [aBacklog({ count: 40_000 })] });
  const { courses, together } = run(load, 1, 1);
  expect(together).toBe(4);
  expect(courses[0] && casesOf(courses[0])).toBe(40_000);
  expect(courses[0]?.endMs).toBe(800_000);
});

const demands = fc.record(
  { memoryMb: fc.integer({ min: 1, max: 900 }), cpuMillicores: fc.integer({ min: 1, max: 900 }) },
  { requiredKeys: [] },
);
const anyLoad = fc
  .record({
    slots: fc.integer({ min: 1, max: 6 }),
    running: fc.integer({ min: 0, max: 3 }),
    waiting: fc.array(fc.tuple(demands, fc.constantFrom('a', 'b'), fc.boolean()), { maxLength: 20 }),
    counts: fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), demands), { maxLength: 3 }),
    sample: fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 20 }),
  })
  .map(({ slots, running, waiting, counts, sample }) =>
    aLoad({
      envelope: { slots, memoryMb: 900, cpuMillicores: 900 },
      leases: leases(Math.min(running, slots), NOW - 500),
      tickets: waiting.map(([demand, workspace, isBatch], i) => ({
        ...aTicket({ holder: `case:sc_t.${i}`, demand, workspace, class: isBatch ? 'batch' : 'interactive' }),
        group: 'g',
      })),
      backlogs: counts.map(([count, demand], i) => aBacklog({ scorecard: `sc_${i}`, count, demands: [demand] })),
      samples: { g: ascending(sample) },
    }),
  );
const SOME = { numRuns: 60 };

test('whatever the load: never above the limits, every case starts once and ends, the same again for the same seed', () => {
  fc.assert(
    fc.property(anyLoad, fc.integer(), (load, seed) => {
      const result = run(load, seed, 3);
      const total = load.tickets.length + load.backlogs.reduce((sum, { count }) => sum + count, 0);
      const { envelope } = load.limits;
      for (const course of result.courses) {
        expect(casesOf(course)).toBe(total);
        expect(course.starts.size).toBe(load.tickets.length);
        expect(Number.isFinite(course.endMs)).toBe(true);
      }
      const peak = peakOf(result);
      expect(peak.slots).toBeLessThanOrEqual(envelope.slots);
      expect(peak.memoryMb).toBeLessThanOrEqual(envelope.memoryMb ?? 0);
      expect(peak.cpuMillicores).toBeLessThanOrEqual(envelope.cpuMillicores ?? 0);
      expect(run(load, seed, 3)).toEqual(result);
    }),
    SOME,
  );
});

test('twice the slots never make cases of one duration end later', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 99 }),
      fc.integer({ min: 0, max: 99 }),
      (slots, n, m) => {
        const backlogs = [aBacklog({ count: n + 1 }), aBacklog({ scorecard: 'sc_b', workspace: 'b', count: m + 1 })];
        const end = (size: number): number =>
          run(aLoad({ envelope: { slots: size }, backlogs }), 1, 1).courses[0]?.endMs ?? 0;
        expect(end(2 * slots)).toBeLessThanOrEqual(end(slots));
      },
    ),
    SOME,
  );
});

test('of 1,000 waits with known distributions, about half fall below their P50 and nine in ten below their P90', () => {
  const hits = { p50: 0, p90: 0 };
  const seeds = 1_000;
  for (let seed = 0; seed < seeds; seed += 1) {
    // What is known of the durations, and what they then turn out to be, are drawn from one distribution.
    const drawn = (stream: number, i: number): number =>
      Math.round(-Math.log(1 - uniformAt(seed, stream, i)) * 60_000) + 1_000 * (seed % 7);
    const sample = ascending(Array.from({ length: 100 }, (_, i) => drawn(1, i)));
    const slots = 1 + (seed % 4);
    const ahead = slots + (seed % 11);
    const load = aLoad({ envelope: { slots }, tickets: tickets(ahead + 1), samples: { g: sample } });
    const { p50, p90 } = startOf(
      unpaused(simulate(load, { seed, isTicketsOnly: true, replications: 19 })),
      `case:sc_t.${ahead}`,
    );
    const free = Array.from({ length: slots }, () => 0);
    for (let i = 0; i < ahead; i += 1) {
      free.sort((a, b) => a - b);
      free[0] = (free[0] ?? 0) + drawn(2, i);
    }
    const actual = Math.min(...free);
    hits.p50 += p50 !== null && actual <= p50 ? 1 : 0;
    hits.p90 += p90 !== null && actual <= p90 ? 1 : 0;
  }
  expect(hits.p50 / seeds).toBeGreaterThan(0.45);
  expect(hits.p50 / seeds).toBeLessThan(0.55);
  expect(hits.p90 / seeds).toBeGreaterThan(0.87);
  expect(hits.p90 / seeds).toBeLessThan(0.93);
});
