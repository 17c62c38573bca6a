import type { Lease, SessionAnswer } from '../../contracts/admission.js';
import { aTicket } from '../../test/builders.js';
import { carryLedger, resumeLedger } from './carry.js';
import { Ledger } from './ledger.js';
import { SessionPools } from './session-pools.js';

const NOW = 1_000_000;
const POOL = 'acme/browse';
const DEAD: SessionAnswer = { failure: 'nothing listens there' };

let made = 0;
/** A lease in the pool, by its age at `NOW`. */
const leaseOf = (ageMs: number, sessionPool = POOL): Lease => {
  made += 1;
  return { ...aTicket({ demand: { sessionPool } }), seq: made, grantedAt: NOW - ageMs };
};
const needs = (sessionPool: string) => aTicket({ demand: { sessionPool } });

/** A pool in which one ticket waits. */
function read(answer: SessionAnswer, agesMs: readonly number[] = []): SessionPools {
  const pools = new SessionPools();
  pools.wait(needs(POOL), 1);
  for (const age of agesMs) pools.hold(leaseOf(age));
  pools.note({ pool: POOL, at: NOW, answer });
  return pools;
}
const NOBODY = { look: () => undefined };
/** Grants as many as may start, and takes them back. */
function room(pools: SessionPools, slots = 1_000, now = NOW): number {
  pools.wait(needs(POOL), 1);
  const granted: Lease[] = [];
  for (pools.look(slots, now, NOBODY); pools.isOpen(POOL); pools.look(slots, now, NOBODY)) {
    const lease = leaseOf(-1e9);
    granted.push(lease);
    pools.hold(lease);
  }
  for (const lease of granted) pools.giveBack(lease);
  pools.wait(needs(POOL), -1);
  return granted.length;
}
const names = (pools: SessionPools, now = NOW) => pools.due(now).map(({ pool }) => pool);

describe('room', () => {
  const old = 60_000;
  test.each<[string, SessionAnswer, number[], number, number]>([
    ['what the pool has left', { total: 32, used: 21 }, [], 1_000, 11],
    ['nothing of a full pool', { total: 2, used: 2 }, [], 1_000, 0],
    ['at most the slots of the runtime', { total: 32, used: 0 }, [], 16, 16],
    ['the slots of the runtime less ours', { total: 32, used: 10 }, Array(10).fill(old), 16, 6],
    ['less leases whose session may not be seen yet', { total: 32, used: 21 }, [old, 9_999, 0, -500], 1_000, 8],
    ['of a pool that tells its total alone, all but ours', { total: 5 }, [old, old, 0], 1_000, 2],
    ['never more of ours than the pool has, whatever it says', { total: 3, used: 0 }, [old, old, old], 1_000, 0],
    ['nothing where others took more than was free', { total: 3, used: 3 }, [0], 1_000, 0],
    ['the runtime’s own limit where nothing is read', DEAD, [old, 0], 16, 14],
  ])('%s', (_title, answer, ages, slots, want) => {
    expect(room(read(answer, ages), slots)).toBe(want);
  });

  test('falls with each lease and rises with each that is given back', () => {
    const pools = read({ total: 32, used: 21 });
    const lease = leaseOf(-100);
    pools.hold(lease);
    expect(room(pools)).toBe(10);
    expect(pools.full(POOL, NOW)).toBeUndefined();
    pools.note({ pool: POOL, at: NOW + 20_000, answer: { total: 32, used: 22 } });
    expect(room(pools)).toBe(10);
    pools.giveBack(lease);
    expect(room(pools)).toBe(10);
    pools.note({ pool: POOL, at: NOW + 23_000, answer: { total: 32, used: 21 } });
    expect(room(pools)).toBe(11);
  });

  test('nobody starts before a pool was asked, nor by what it said long ago', () => {
    expect(room(new SessionPools())).toBe(0);
    expect(room(read({ total: 9, used: 0 }), 1_000, NOW + 30_000)).toBe(9);
    expect(room(read({ total: 9, used: 0 }), 1_000, NOW + 90_000)).toBe(0);
    expect(room(read(DEAD), 16, NOW + 90_000)).toBe(16);
  });

  test('who comes to an empty queue waits for a new reading, who joins one goes by the last', () => {
    const pools = read({ total: 9, used: 0 });
    pools.arrive(needs(POOL), NOW + 30_000);
    expect(room(pools)).toBe(9);
    pools.wait(needs(POOL), -1);
    pools.arrive(needs(POOL), NOW + 5_000);
    expect(room(pools)).toBe(9);
    pools.arrive(needs(POOL), NOW + 30_000);
    expect(room(pools)).toBe(0);
  });

  test('a reading that arrives late does not replace a newer one', () => {
    const pools = read({ total: 9, used: 9 });
    pools.note({ pool: POOL, at: NOW - 1, answer: { total: 9, used: 0 } });
    expect(room(pools)).toBe(0);
  });
});

describe('what is asked', () => {
  test('every pool that someone waits in, longest ago first, with what it said', () => {
    const pools = new SessionPools();
    for (const name of ['new', 'old', 'unread']) pools.wait(needs(name), 1);
    pools.note({ pool: 'new', at: NOW, answer: { total: 1 } });
    pools.note({ pool: 'old', at: NOW - 9, answer: { total: 2, used: 1 } });
    pools.note({ pool: 'nobody waits', at: 0, answer: { total: 3 } });
    expect(pools.due(NOW)).toEqual([
      { pool: 'unread' },
      { pool: 'old', known: { total: 2, used: 1 } },
      { pool: 'new', known: { total: 1 } },
    ]);
    pools.wait(needs('unread'), -1);
    expect(names(pools)).toEqual(['old', 'new']);
  });

  test('a pool that failed, once for each burst of tickets', () => {
    const pools = read(DEAD);
    expect(pools.due(NOW + 3_600_000)).toEqual([]);
    pools.arrive(needs(POOL), NOW + 100);
    pools.arrive(needs(POOL), NOW + 200);
    expect(pools.due(NOW + 200)).toEqual([]);
    expect(pools.due(NOW + 3_000)).toEqual([{ pool: POOL }]);
    pools.note({ pool: POOL, at: NOW + 3_100, answer: DEAD });
    expect(pools.due(NOW + 3_600_000)).toEqual([]);
    expect(room(pools, 4)).toBe(4);
  });

  test('one whose last reading is too old says whatever it says', () => {
    const pools = read({ total: 9, used: 0 });
    expect(pools.due(NOW + 30_000)).toEqual([{ pool: POOL, known: { total: 9, used: 0 } }]);
    expect(pools.due(NOW + 90_000)).toEqual([{ pool: POOL }]);
  });

  test('workspaces in turn, whichever has how many pools that nobody could ask yet', () => {
    const pools = new SessionPools();
    for (let i = 0; i < 60; i += 1) pools.wait(needs(`many/${i}`), 1);
    pools.wait(needs('one/a'), 1);
    pools.note({ pool: 'one/a', at: NOW, answer: { total: 1 } });
    expect(names(pools)).toContain('one/a');
    expect(names(pools)).toHaveLength(50);
  });

  test('one that nobody knows the endpoint of stays unread, and others are asked before it the next time', () => {
    const pools = new SessionPools();
    for (const name of ['acme/a', 'acme/b']) pools.wait(needs(name), 1);
    pools.note({ pool: 'acme/a', at: NOW });
    expect(names(pools)).toEqual(['acme/b', 'acme/a']);
    expect(pools.full('acme/a', NOW)).toEqual({ total: null, used: null });
  });

  test('at most fifty at once, and the others next', () => {
    const pools = new SessionPools();
    for (let i = 0; i < 80; i += 1) pools.wait(needs(`acme/${i}`), 1);
    const first = names(pools);
    expect(first).toHaveLength(50);
    for (const pool of first) pools.note({ pool, at: NOW, answer: { total: 1 } });
    expect(new Set([...first, ...names(pools)]).size).toBe(80);
  });
});

test.each<[string, SessionAnswer, number[], ReturnType<SessionPools['full']>]>([
  ['it is taken', { total: 2, used: 2 }, [], { total: 2, used: 2 }],
  ['ours may be about to take what is left', { total: 32, used: 21 }, Array(11).fill(0), { total: 32, used: 32 }],
  ['ours are as many as it has', { total: 2 }, [0, 0], { total: 2, used: 2 }],
  ['others took more than it has', { total: 2, used: 2 }, [0], { total: 2, used: 3 }],
])('a pool is full when %s', (_title, answer, ages, want) => {
  expect(read(answer, ages).full(POOL, NOW)).toEqual(want);
});

test('a pool that was not asked yet holds its tickets up, one that says nothing does not', () => {
  expect(new SessionPools().full(POOL, NOW)).toEqual({ total: null, used: null });
  expect(read(DEAD).full(POOL, NOW)).toBeUndefined();
  expect(read({ total: 3, used: 2 }).full(POOL, NOW)).toBeUndefined();
});

test('says of each pool what it said, who waits in it and how many leases are ours', () => {
  const pools = read({ total: 32, used: 21 }, [0, 0]);
  pools.wait(needs('unread'), 1);
  pools.note({ pool: 'nobody waits', at: NOW, answer: { total: 1 } });
  expect(pools.states(NOW)).toEqual([
    { pool: POOL, waiting: 1, ours: 2, said: { answer: { total: 32, used: 21 }, at: NOW } },
    { pool: 'unread', waiting: 1, ours: 0 },
  ]);
});

test('a ledger grants what a pool has left and the rest of the queue as ever, also once it is carried over', () => {
  const limits = { envelope: { slots: 4 }, workspaces: {}, pausedScorecards: [] };
  const holders = ['a', 'b', 'c'].map((holder) => aTicket({ holder, demand: { sessionPool: POOL } }));
  let ledger = Ledger.open(1, [], [...holders, aTicket({ holder: 'other' })]);
  const says = (total: number, used: number, at = NOW) =>
    ledger.receive([{ acquire: [], release: [], sessions: [{ pool: POOL, at, answer: { total, used } }] }], at);
  const granted = (now = NOW) => ledger.decide(limits, now).granted.map(({ holder }) => holder);

  expect(granted()).toEqual(['other']);
  says(5, 3);
  expect(granted()).toEqual(['a', 'b']);
  ledger = resumeLedger(JSON.parse(JSON.stringify(carryLedger(ledger))));
  expect(ledger.sessions.full(POOL, NOW)).toEqual({ total: 5, used: 5 });
  expect(granted()).toEqual([]);
  ledger.receive([{ acquire: [], release: [{ holder: 'a', isGone: true }] }], NOW + 1_000);
  expect(granted(NOW + 1_000)).toEqual(['c']);
  expect(ledger.sessions.due(NOW)).toEqual([]);
});

test('a workspace waits in fifty pools at most, and all of them in five hundred', () => {
  const ledger = Ledger.open(1, [], []);
  const ask = (owner: string, count: number) =>
    ledger.receive(
      [{ acquire: Array.from({ length: count }, (_, i) => needs(`${owner}/${i}`)), release: [], sessions: [] }],
      NOW,
    );
  ask('acme', 60);
  expect(ledger.waiting).toBe(50);
  ask('acme', 10);
  expect(ledger.waiting).toBe(60);
  for (let i = 0; i < 10; i += 1) ask(`w${i}`, 50);
  expect(ledger.sessions.states(NOW)).toHaveLength(500);
  expect(Object.keys(read({ total: 1 }).carry() ?? {})).toEqual([POOL]);
});

test('what is carried over as JSON says the same, without pools that nobody waits in', () => {
  const pools = read({ total: 9, used: 4 });
  pools.wait(needs('dead'), 1);
  pools.note({ pool: 'dead', at: NOW, answer: DEAD });
  pools.arrive(needs('dead'), NOW);
  pools.note({ pool: 'nobody waits', at: NOW, answer: { total: 1 } });
  const resumed = new SessionPools(JSON.parse(JSON.stringify(pools.carry())));
  for (const name of [POOL, 'dead', 'nobody waits']) resumed.wait(needs(name), 1);
  expect(resumed.due(NOW + 5_000)).toEqual([
    { pool: 'nobody waits' },
    { pool: POOL, known: { total: 9, used: 4 } },
    { pool: 'dead' },
  ]);
  expect(room(resumed)).toBe(5);
  expect(new SessionPools().carry()).toBeUndefined();
});
