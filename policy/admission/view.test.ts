import type { AdmissionLimits, Demand, SessionAnswer, SessionRead, Ticket } from '../../contracts/admission.js';
import { PoolView, QueuePage } from '../../contracts/admission-view.js';
import { aTicket } from '../../test/builders.js';
import { Ledger } from './ledger.js';
import { explainWaiting, pageQueue, type Seen, viewPool } from './view.js';

const NOW = 100_000;
const SCORECARD = 'sc_1';

const ticketOf = (run: string, parts: Partial<Ticket> = {}): Ticket => aTicket({ holder: `case:${run}`, ...parts });

/** A pool in which everything that can be granted has been. */
function seen(tickets: Ticket[], limits: Partial<AdmissionLimits>, sessions: SessionRead[] = []): Seen {
  const ledger = Ledger.open(1, [], tickets);
  ledger.receive([{ acquire: [], release: [], sessions }], NOW);
  const all = { envelope: { slots: 1 }, workspaces: {}, pausedScorecards: [], ...limits };
  ledger.decide(all, NOW);
  return { runtime: 'here', ledger, limits: all, now: NOW };
}

const holding = (demand: Demand = {}): Ticket => ticketOf('running', { demand });
const slots = { slots: 9 };

test.each<[string, Partial<AdmissionLimits>, Ticket[], unknown]>([
  ['slots', { envelope: { slots: 1 } }, [holding()], { reason: 'slots', scope: 'runtime here', limit: 1, used: 1 }],
  [
    'memory',
    { envelope: { ...slots, memoryMb: 1_000 } },
    [holding({ memoryMb: 600 })],
    { reason: 'memory', scope: 'runtime here', limit: 1_000, used: 600 },
  ],
  [
    'memory of a lowered limit',
    { envelope: { ...slots, memoryMb: 1_000 }, dial: { mode: 'open', limits: { memoryMb: 400 } } },
    [],
    { reason: 'memory', scope: 'runtime here', limit: 400, used: 0 },
  ],
  [
    'cpu',
    { envelope: { ...slots, cpuMillicores: 1_000 } },
    [holding({ cpuMillicores: 900 })],
    { reason: 'cpu', scope: 'runtime here', limit: 1_000, used: 900 },
  ],
  [
    'the quota of its workspace',
    { envelope: slots, workspaces: { default: { maxRunning: 1 } } },
    [holding()],
    { reason: 'quota', scope: 'workspace default', limit: 1, used: 1 },
  ],
  [
    'its paused scorecard',
    { envelope: slots, pausedScorecards: [SCORECARD] },
    [],
    { reason: 'paused', scope: `scorecard ${SCORECARD}`, limit: null, used: null },
  ],
  [
    'a runtime that drains',
    { envelope: slots, dial: { mode: 'draining', limits: {} } },
    [],
    { reason: 'paused', scope: 'runtime here', limit: null, used: null },
  ],
])('a ticket that %s holds up says so, with limit and use', (_title, limits, others, want) => {
  const asking = ticketOf(`${SCORECARD}.1`, { demand: { memoryMb: 500, cpuMillicores: 500 } });
  const pool = seen([...others, asking], limits);
  expect(explainWaiting(pool, [`${SCORECARD}.1`, 'unknown'])).toEqual({
    [`${SCORECARD}.1`]: { ahead: 0, ...Object(want) },
  });
});

test('a ticket that a quota used up elsewhere holds up says so', () => {
  const pool = seen([ticketOf('run_1'), ticketOf('run_2')], { workspaces: { default: { maxRunning: 3 } } });
  const [lease] = pool.ledger.leases.values();
  const release = [{ holder: 'case:run_1', seq: lease?.seq, isOverQuota: true as const }];
  pool.ledger.receive([{ acquire: [ticketOf('run_1')], release }], NOW);
  const quota = { reason: 'quota', scope: 'workspace default', limit: 3, used: 3 };
  expect(explainWaiting(pool, ['run_1', 'run_2'])).toEqual({
    run_1: { ...quota, ahead: 1 },
    run_2: { ...quota, ahead: 0 },
  });
  expect(viewPool(pool)).toMatchObject({ parkedWorkspaces: ['default'], inUse: { slots: 0 } });
});

test('a ticket that fits, and that room is kept from, says so; view and last decisions say for whom', () => {
  const heavy = ticketOf('heavy', { demand: { memoryMb: 500 } });
  const light = Array.from({ length: 17 }, (_, i) => ticketOf(`light_${i}`, { demand: { memoryMb: 1 } }));
  const pool = seen([holding({ memoryMb: 600 }), heavy, ...light], { envelope: { slots: 40, memoryMb: 1_000 } });
  const kept = { reason: 'reservation', scope: 'runtime here', limit: null, used: null };
  expect(explainWaiting(pool, ['heavy', 'light_16'])).toEqual({
    heavy: { reason: 'memory', scope: 'runtime here', limit: 1_000, used: 616, ahead: 0 },
    light_16: { ...kept, ahead: 1 },
  });
  const view = viewPool(pool);
  expect(PoolView.parse(view)).toMatchObject({ reservation: { run: 'heavy', demand: { memoryMb: 500 } } });
  expect(view.decisions.map(({ run, decision, reason }) => `${run} ${decision}: ${reason}`)).toEqual([
    'running granted: first in order that fits, with 40 slots, 1000 MB free',
    ...light
      .slice(0, 16)
      .map((_, i) => `light_${i} granted: first in order that fits, with ${39 - i} slots, ${400 - i} MB free`),
    'heavy reserved: room is kept for it, after 16 grants went past it',
  ]);
});

test('a runtime that failed too often holds everything up, and says for how long', () => {
  const pool = seen([], { envelope: { slots: 9 } });
  for (const run of ['a', 'b', 'c']) pool.ledger.circuit.ended(run, 'NODE_LOST', NOW);
  pool.ledger.receive([{ acquire: [ticketOf('run_1')], release: [] }], NOW);
  const waits = { reason: 'circuit', scope: 'runtime here', limit: null, used: null, ahead: 0 };
  expect(explainWaiting(pool, ['run_1'])).toEqual({ run_1: waits });
  expect(viewPool(pool).circuit).toEqual({ state: 'open', failures: 3, until: new Date(NOW + 30_000).toISOString() });
});

test('what holds a slot waits for its placement', () => {
  const pool = seen([ticketOf('run_1'), ticketOf('run_2'), ticketOf('run_3')], {});
  expect(explainWaiting(pool, ['run_1', 'run_3'])).toEqual({
    run_1: { reason: 'placement', scope: 'runtime here', limit: null, used: null, ahead: 0 },
    run_3: { reason: 'slots', scope: 'runtime here', limit: 1, used: 1, ahead: 1 },
  });
});

test('the view of a pool tells limits, use, holders and who waits since when', () => {
  const heavy = { memoryMb: 300, sessionPool: 'default/browser' };
  const dial = { mode: 'open' as const, limits: { slots: 2 }, limitsUntil: NOW + 1_000 };
  const tickets = [
    ticketOf('run_1', { demand: heavy, workspace: 'team' }),
    ticketOf('run_2', { workspace: 'unit' }),
    ticketOf('run_3', { workspace: 'unit', askedAt: NOW - 60_000 }),
    ticketOf('run_4', { askedAt: NOW }),
    ticketOf('run_5', { askedAt: NOW - 90_000, class: 'interactive' }),
  ];
  const sessions = [{ pool: 'default/browser', at: NOW, answer: { total: 9, used: 2 } }];
  const view = viewPool(seen(tickets, { envelope: { slots: 4, memoryMb: 500 }, dial }, sessions));
  expect(PoolView.parse(view)).toEqual(view);
  expect(view).toMatchObject({
    envelope: { slots: 4, memoryMb: 500 },
    limits: { slots: 2, memoryMb: 500 },
    dial: { mode: 'open', limits: { slots: 2 }, limitsUntil: new Date(NOW + 1_000).toISOString() },
    inUse: { slots: 2, memoryMb: 300, cpuMillicores: 0 },
    leases: [
      {
        run: 'run_1',
        workspace: 'team',
        demand: { ...heavy, cpuMillicores: null },
        grantedAt: new Date(NOW).toISOString(),
      },
      { run: 'run_5', demand: { memoryMb: null, cpuMillicores: null, sessionPool: null } },
    ],
    moreLeases: 0,
    waiting: { interactive: 0, batch: 3, aged: 2 },
    sessionPools: [{ name: 'default/browser', state: 'reading', total: 9, used: 2, ours: 1, waiting: 0 }],
  });
});

test.each<[string, SessionAnswer | undefined, object, object | undefined]>([
  [
    'is full',
    { total: 2, used: 2 },
    { state: 'reading', total: 2, used: 2, failure: null, ours: 0, waiting: 1 },
    { reason: 'pool', scope: 'pool acme/browse', limit: 2, used: 2, ahead: 0 },
  ],
  [
    'was not asked yet',
    undefined,
    { state: 'unread', total: null, used: null, readAt: null, ours: 0, waiting: 1 },
    { reason: 'pool', scope: 'pool acme/browse', limit: null, used: null, ahead: 0 },
  ],
  [
    'tells nothing',
    { failure: 'it answers 503' },
    { state: 'failed', total: null, failure: 'it answers 503', ours: 1, waiting: 0 },
    undefined,
  ],
  [
    'tells its total alone',
    { total: 3 },
    { state: 'reading', total: 3, used: null, readAt: new Date(NOW).toISOString(), ours: 1, waiting: 0 },
    undefined,
  ],
])('a ticket of a session pool that %s holds up nobody else', (_title, answer, want, waits) => {
  const needs = { sessionPool: 'acme/browse' };
  const tickets = [ticketOf('run_1', { demand: needs }), ticketOf('run_2')];
  const pool = seen(tickets, { envelope: slots }, answer && [{ pool: needs.sessionPool, at: NOW, answer }]);
  expect(viewPool(pool).sessionPools).toMatchObject([{ name: 'acme/browse', ...want }]);
  const placed = { reason: 'placement' };
  expect(explainWaiting(pool, ['run_1', 'run_2'])).toMatchObject({ run_1: waits ?? placed, run_2: placed });
});

test('a dial that has ended is not shown', () => {
  const dial = { mode: 'paused' as const, limits: {}, until: NOW };
  expect(viewPool(seen([], { dial }))).toMatchObject({ dial: null, limits: { slots: 1 } });
});

describe('the queue in pages', () => {
  const runs = Array.from({ length: 7 }, (_, i) => `run_${i}`);
  const queued = (others: string): Seen =>
    seen(
      runs.map((run, i) => ticketOf(run, { workspace: i % 2 ? others : 'even' })),
      {},
    );
  const runsOf = ({ tickets }: QueuePage): string[] => tickets.map(({ run }) => run);

  test('covers every ticket once, with its place among all', () => {
    const pool = queued('odd');
    const first = pageQueue(pool, { limit: 2, workspace: 'odd' });
    expect(QueuePage.parse(first)).toEqual(first);
    expect(first).toMatchObject({
      total: 3,
      tickets: [
        { position: 1, run: 'run_1' },
        { position: 2, run: 'run_3' },
      ],
    });
    const second = pageQueue(pool, { limit: 2, workspace: 'odd', after: first.next ?? '' });
    expect(second).toMatchObject({ tickets: [{ position: 3, run: 'run_5', waiting: { ahead: 2 } }], next: null });
  });

  test('leaves nothing out when the last ticket of a page and those before it started meanwhile', () => {
    const pool = queued('even');
    const first = pageQueue(pool, { limit: 3 });
    expect(runsOf(first)).toEqual(['run_1', 'run_2', 'run_3']);
    pool.ledger.decide({ ...pool.limits, envelope: { slots: 4 } }, NOW);
    expect(runsOf(pageQueue(pool, { limit: 3, after: first.next ?? '' }))).toEqual(['run_4', 'run_5', 'run_6']);
  });
});
