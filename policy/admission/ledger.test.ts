import type { AdmissionLimits, AdmissionMessage, Demand, Release, Ticket } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { aTicket } from '../../test/builders.js';
import { carryLedger, resumeLedger } from './carry.js';
import { Ledger } from './ledger.js';

const NOW = 5_000;
const EPOCH = 3;
const SCORECARD = 'sc_01j9z3k4x5y6w7v8t9s0r1q2p3';

const ledgerOf = (tickets: Ticket[]): Ledger => Ledger.open(EPOCH, [], tickets);
const named = (demands: Demand[]): Ticket[] =>
  demands.map((demand, i) => aTicket({ holder: 'abcdefgh'.charAt(i), demand }));
const decide = (ledger: Ledger, envelope: Envelope) =>
  ledger.decide({ envelope, workspaces: {}, pausedScorecards: [] }, NOW);
const grantedOf = (ledger: Ledger, envelope: Envelope) => decide(ledger, envelope).granted.map(({ holder }) => holder);
const release = (ledger: Ledger, given: Release[]): Ledger => {
  ledger.receive([{ acquire: [], release: given }], NOW);
  return ledger;
};
const acquire = (...tickets: Ticket[]): AdmissionMessage => ({ acquire: tickets, release: [] });

describe('admit', () => {
  const mb = (memoryMb: number): Demand => ({ memoryMb });
  test.each<[string, Envelope, Demand[], string[]]>([
    ['grants in order of arrival up to the slots', { slots: 2 }, [{}, {}, {}], ['a', 'b']],
    ['admits an exact memory fit', { slots: 9, memoryMb: 1_000 }, [mb(400), mb(600)], ['a', 'b']],
    ['admits an exact CPU fit', { slots: 9, cpuMillicores: 3 }, [{ cpuMillicores: 3 }], ['a']],
    ['passes over a ticket that does not fit', { slots: 9, memoryMb: 900 }, [mb(600), mb(600), mb(300)], ['a', 'c']],
    ['needs room on both axes', { slots: 9, memoryMb: 9, cpuMillicores: 9 }, [{ memoryMb: 1, cpuMillicores: 10 }], []],
    ['admits undeclared memory into a full budget', { slots: 9, memoryMb: 600 }, [mb(600), {}], ['a', 'b']],
    ['counts declared memory where nothing caps it', { slots: 2 }, [mb(9_000_000), mb(1)], ['a', 'b']],
    ['grants nothing without slots', { slots: 0 }, [{}], []],
  ])('%s', (_title, envelope, demands, want) => {
    expect(grantedOf(ledgerOf(named(demands)), envelope)).toEqual(want);
  });

  test('T13 small and undeclared cases start while a heavy one waits for memory, and it starts once there is room', () => {
    const running = Ledger.open(
      EPOCH,
      [{ ...aTicket({ holder: 'running' }), seq: 1, grantedAt: 0, demand: mb(900) }],
      [],
    );
    const queue = [aTicket({ holder: 'heavy', demand: mb(500) })];
    for (const holder of ['l1', 'l2', 'l3']) queue.push(aTicket({ holder, demand: mb(50) }));
    queue.push(aTicket({ holder: 'undeclared' }));
    const envelope = { slots: 4, memoryMb: 1_000 };

    running.receive([acquire(...queue)], NOW);
    expect(grantedOf(running, envelope)).toEqual(['l1', 'l2', 'undeclared']);
    expect(grantedOf(release(running, [{ holder: 'running', isGone: true }]), envelope)).toEqual(['heavy']);
  });

  test('puts interactive tickets before batch ones that came earlier', () => {
    const tickets = [aTicket({ holder: 'batch' }), aTicket({ holder: 'interactive', class: 'interactive' })];
    expect(grantedOf(ledgerOf(tickets), { slots: 1 })).toEqual(['interactive']);
  });

  test('numbers leases from its epoch on, and tells who asked', () => {
    const ledger = ledgerOf([aTicket({ holder: 'a', to: 'window' })]);
    const { granted } = decide(ledger, { slots: 1 });
    expect(granted).toEqual([{ holder: 'a', to: 'window', seq: EPOCH * 1e9, epoch: EPOCH }]);
    expect(ledger.leases.get('a')).toMatchObject({ seq: EPOCH * 1e9, grantedAt: NOW });
  });

  test('grants at most as many as one delivery carries', () => {
    const tickets = Array.from({ length: 300 }, () => aTicket());
    const ledger = ledgerOf(tickets);
    expect(decide(ledger, { slots: 1_000 })).toMatchObject({ granted: { length: 200 }, isCut: true });
    expect(decide(ledger, { slots: 1_000 })).toMatchObject({ granted: { length: 100 }, isCut: false });
  });

  test('after limits were lowered grants nothing until enough came back', () => {
    const ledger = ledgerOf(named([{}, {}, {}, {}]));
    decide(ledger, { slots: 3 });
    expect(grantedOf(ledger, { slots: 2 })).toEqual([]);
    const fewer = release(ledger, [{ holder: 'a', isGone: true }]);
    expect(grantedOf(fewer, { slots: 2 })).toEqual([]);
    expect(grantedOf(release(fewer, [{ holder: 'b', isGone: true }]), { slots: 2 })).toEqual(['d']);
  });
});

describe('receive', () => {
  const [a] = named([{}]);
  if (!a) throw new Error('no ticket');
  let leased: Ledger;
  beforeEach(() => {
    leased = ledgerOf([a]);
    decide(leased, { slots: 1 });
  });
  const grant = { holder: 'a', to: 'a', seq: EPOCH * 1e9, epoch: EPOCH };

  test('T05 a holder that asks again has one lease, and the same grant is due again', () => {
    const again = leased.receive([acquire(a), acquire({ ...a, to: 'elsewhere' })], NOW);
    expect(again).toEqual([{ ...grant, to: 'elsewhere' }]);
    expect(leased.leases.size).toBe(1);
    expect(leased.waiting).toBe(0);
  });

  test('a holder that waits keeps its place when it asks again', () => {
    const [x, y] = [aTicket({ holder: 'x' }), aTicket({ holder: 'y' })];
    const ledger = ledgerOf([x, y]);
    ledger.receive([acquire({ ...x, askedAt: 9_999 })], NOW);
    expect(grantedOf(ledger, { slots: 1 })).toEqual(['x']);
  });

  test.each<[string, Release, number]>([
    ['its own number drops the lease', { holder: 'a', seq: grant.seq }, 0],
    ['another number changes nothing', { holder: 'a', seq: 1 }, 1],
    ['another holder changes nothing', { holder: 'b', seq: grant.seq }, 1],
    ['no number leaves the lease alone', { holder: 'a' }, 1],
    ['word that the holder is gone drops whatever it has', { holder: 'a', isGone: true }, 0],
  ])('a release with %s', (_title, given, leases) => {
    release(leased, [given]);
    expect(leased.leases.size).toBe(leases);
    const once = carryLedger(leased);
    expect(carryLedger(release(leased, [given]))).toEqual(once);
  });

  test('a release with a number leaves a ticket alone, one without takes it back', () => {
    const waiting = ledgerOf([aTicket({ holder: 'x' })]);
    expect(release(waiting, [{ holder: 'x', seq: 1 }]).waiting).toBe(1);
    expect(release(waiting, [{ holder: 'x' }]).waiting).toBe(0);
  });

  test('in a full queue the newest ticket of the workspace with the most gives way to one of a workspace with fewer', () => {
    const full = ledgerOf(Array.from({ length: 5_000 }, (_, i) => aTicket({ holder: `${i}` })));
    full.receive([acquire(aTicket({ holder: 'late' }), aTicket({ holder: '7' }))], NOW);
    expect(full.waiting).toBe(5_000);
    expect(full.ticketOf('late')).toBeUndefined();
    full.receive([acquire(aTicket({ holder: 'newcomer', workspace: 'other' }))], NOW);
    expect(full.waiting).toBe(5_000);
    expect(full.ticketOf('newcomer')).toBeDefined();
    expect(full.ticketOf('4999')).toBeUndefined();
    expect(full.decisions).toEqual([{ what: 'evicted', at: NOW, holder: '4999', madeRoomFor: 'newcomer' }]);
  });

  test('in one message releases go first', () => {
    expect(leased.receive([{ acquire: [a], release: [{ holder: 'a', isGone: true }] }], NOW)).toEqual([]);
    expect(leased.waiting).toBe(1);
  });
});

describe('order', () => {
  const limits = (more: Partial<AdmissionLimits> = {}): AdmissionLimits => ({
    ...{ envelope: { slots: 1 }, workspaces: {}, pausedScorecards: [] },
    ...more,
  });
  /** One slot after another comes free, and is given to the next. */
  const startsOf = (ledger: Ledger, inForce: AdmissionLimits, now = NOW): string[] => {
    const started: string[] = [];
    for (;;) {
      const { granted } = ledger.decide(inForce, now);
      if (granted.length === 0) return started;
      started.push(...granted.map(({ holder }) => holder));
      release(ledger, granted);
    }
  };
  /** All slots at once: what is in use grows with each grant. */
  const packed = (tickets: Ticket[], slots: number, more: Partial<AdmissionLimits> = {}): string =>
    ledgerOf(tickets)
      .decide(limits({ ...more, envelope: { slots } }), NOW)
      .granted.map(({ holder }) => holder)
      .join(' ');
  const many = (names: string, parts: (name: string, i: number) => Partial<Ticket>): Ticket[] =>
    names.split(' ').map((holder, i) => aTicket({ holder, askedAt: NOW, ...parts(holder, i) }));
  const ofWorkspace = (name: string): Partial<Ticket> => ({ workspace: name.charAt(0) });

  test('F51 what does not fit into the memory or CPU left waits, however many slots are free', () => {
    for (const axis of ['memoryMb', 'cpuMillicores'] as const) {
      const ledger = ledgerOf(named([{ [axis]: 600 }, { [axis]: 600 }]));
      expect(grantedOf(ledger, { slots: 10, [axis]: 1_000 })).toEqual(['a']);
      expect(ledger.inUse).toMatchObject({ slots: 1, [axis]: 600 });
      expect(grantedOf(release(ledger, [{ holder: 'a', isGone: true }]), { slots: 10, [axis]: 1_000 })).toEqual(['b']);
      expect(release(ledger, [{ holder: 'b', isGone: true }]).inUse).toEqual({
        slots: 0,
        memoryMb: 0,
        cpuMillicores: 0,
      });
      const four = ledgerOf(named([{ [axis]: 512 }, { [axis]: 512 }, { [axis]: 512 }, { [axis]: 512 }]));
      expect(startsOf(four, limits({ envelope: { slots: 10, [axis]: 600 } }))).toEqual(['a', 'b', 'c', 'd']);
    }
  });

  test('F53 a ticket above a lowered envelope is refused with both numbers, above a limit for now it waits', () => {
    const ledger = ledgerOf(named([{ memoryMb: 1_024 }, { memoryMb: 100 }]));
    const dial = { mode: 'open' as const, limits: { memoryMb: 600 }, limitsUntil: NOW + 1 };
    expect(ledger.decide(limits({ envelope: { slots: 1, memoryMb: 2_000 }, dial }), NOW)).toMatchObject({
      granted: [{ holder: 'b' }],
      refused: [],
    });
    const refusal = { holder: 'a', to: 'a', axis: 'memoryMb', asked: 1_024, limit: 600 };
    expect(decide(ledger, { slots: 9, memoryMb: 600 })).toMatchObject({ granted: [], refused: [refusal] });
    expect(ledger.decisions.at(-1)).toMatchObject({ what: 'refused', holder: 'a', asked: 1_024, limit: 600 });
    expect(ledger.waiting).toBe(0);
  });

  test('at most as many are refused at once as can be settled at once', () => {
    const ledger = ledgerOf(Array.from({ length: 300 }, () => aTicket({ demand: { memoryMb: 2 } })));
    expect(decide(ledger, { slots: 1, memoryMb: 1 })).toMatchObject({ refused: { length: 200 }, isCut: true });
    expect(decide(ledger, { slots: 1, memoryMb: 1 })).toMatchObject({ refused: { length: 100 }, isCut: false });
  });

  test('F55 interactive tickets go first; a batch ticket that waited a minute goes before them, then one in four', () => {
    const urgent = (name: string): Partial<Ticket> => ({ class: name.startsWith('i') ? 'interactive' : 'batch' });
    const fresh = ledgerOf(many('b1 b2 i1', urgent));
    expect(startsOf(fresh, limits())).toEqual(['i1', 'b1', 'b2']);
    const waited = ledgerOf(many('b1 b2 b3 i1 i2 i3 i4 i5', urgent));
    expect(startsOf(waited, limits(), NOW + 60_000)).toEqual(['b1', 'i1', 'i2', 'i3', 'b2', 'i4', 'i5', 'b3']);
    expect(Array.from(waited.inOrder(limits(), NOW))).toEqual([]);
  });

  test.each<[string, string, string]>([
    [
      'between workspaces the one that has less in use goes first',
      packed(many('a1 a2 a3 b1 b2', ofWorkspace), 4),
      'a1 b1 a2 b2',
    ],
    [
      'a workspace of weight 2 gets twice as much',
      packed(many('a1 a2 a3 b1 b2 b3 b4', ofWorkspace), 6, { workspaces: { b: { weight: 2 } } }),
      'a1 b1 b2 a2 b3 b4',
    ],
    [
      'between scorecards of a workspace the one that has less in use goes first, single runs counting as one',
      packed(
        many('case:sc_a.1 case:sc_a.2 case:run_1 case:run_2 case:sc_b.1', () => ({})),
        4,
      ),
      'case:run_1 case:sc_a.1 case:sc_b.1 case:run_2',
    ],
    [
      'a promoted ticket goes before all others of its workspace, which gets no more for it',
      packed(
        many('a1 a2 b1 b2', (name) => ({ ...ofWorkspace(name), ...(name === 'b2' && { promotedAt: 1 }) })),
        2,
      ),
      'a1 b2',
    ],
    [
      'a workspace at its quota and a paused scorecard are passed over',
      packed(
        many('case:sc_a.1 case:sc_b.1 case:sc_b.2 case:sc_c.1', (_, i) => ({
          workspace: i === 3 ? 'other' : 'default',
        })),
        9,
        { workspaces: { default: { maxRunning: 1 } }, pausedScorecards: ['sc_a'] },
      ),
      'case:sc_b.1 case:sc_c.1',
    ],
  ])('%s', (_title, started, want) => {
    expect(started).toBe(want);
  });

  test('an idle workspace earns no credit: what it did not use before counts nothing', () => {
    const ledger = ledgerOf(many('a1 a2 a3 a4 a5 a6', ofWorkspace));
    expect(startsOf(ledger, limits())).toHaveLength(6);
    ledger.receive([acquire(...many('a7 a8 b1 b2 b3 b4', ofWorkspace))], NOW);
    expect(grantedOf(ledger, { slots: 4 })).toEqual(['b1', 'a7', 'b2', 'a8']);
  });

  test('equals take turns, so that one slot serves all workspaces and all scorecards alike', () => {
    const workspaces = ledgerOf(many('a1 a2 a3 b1 b2 c1', ofWorkspace));
    expect(startsOf(workspaces, limits())).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    const scorecards = ledgerOf(many('case:sc_a.1 case:sc_a.2 case:sc_b.1 case:sc_b.2', () => ({})));
    expect(startsOf(scorecards, limits())).toEqual(['case:sc_a.1', 'case:sc_b.1', 'case:sc_a.2', 'case:sc_b.2']);
  });

  test('a resumed ledger goes on as the one it was, however many workspaces take turns', () => {
    const ofRound = (round: number): Ticket[] =>
      Array.from({ length: 600 }, (_, i) => aTicket({ holder: `case:run_${round}-${i}`, workspace: `team-${i}` }));
    const ledger = ledgerOf(ofRound(1));
    expect(startsOf(ledger, limits())).toHaveLength(600);
    ledger.receive([acquire(...ofRound(2))], NOW);
    for (let i = 0; i < 50; i += 1) release(ledger, decide(ledger, { slots: 1 }).granted);
    const resumed = resumeLedger(JSON.parse(JSON.stringify(carryLedger(ledger))));
    expect(startsOf(resumed, limits())).toEqual(startsOf(ledger, limits()));
  });

  test('the queue is told in the order in which it would start', () => {
    const tickets = many('b1 b2 i1 i2 i3 i4 a1', (name) => ({
      class: name.startsWith('i') ? 'interactive' : 'batch',
      askedAt: name.startsWith('b') ? NOW - 60_000 : NOW,
    }));
    const ledger = ledgerOf(tickets);
    const told = Array.from(ledger.inOrder(limits(), NOW), ({ holder }) => holder);
    expect(told).toEqual(['b1', 'i1', 'i2', 'i3', 'b2', 'i4', 'a1']);
    expect(startsOf(ledger, limits())).toEqual(told);
  });

  test('a workspace over its quota elsewhere that has room again soon has all it may', () => {
    const ledger = ledgerOf(Array.from({ length: 40 }, (_, i) => aTicket({ holder: `${i}` })));
    const [first] = decide(ledger, { slots: 1 }).granted;
    release(ledger, [{ holder: '0', seq: first?.seq, isOverQuota: true }]);
    const grants: number[] = [];
    for (let survey = 0; survey < 6; survey += 1) {
      ledger.receive([{ ...acquire(), unpark: ledger.guesses }], NOW);
      grants.push(decide(ledger, { slots: 30 }).granted.length);
    }
    expect(grants).toEqual([1, 1, 2, 4, 8, 14]);
  });

  test('a workspace over its quota elsewhere is granted nothing until somebody says that it has room', () => {
    const quota = { workspaces: { default: { maxRunning: 9 } } };
    const ways: [string, Partial<AdmissionMessage>, Partial<AdmissionLimits>][] = [
      ['word of it', { unpark: ['default'] }, {}],
      ['another lease of its own comes back', { release: [{ holder: 'b', isGone: true }] }, {}],
      ['another quota', {}, quota],
    ];
    for (const [way, message, changed] of ways) {
      const ledger = ledgerOf(named([{}, {}, {}]));
      const [a] = decide(ledger, { slots: 2 }).granted;
      release(ledger, [{ holder: 'a', seq: a?.seq, isOverQuota: true }]);
      expect({ way, granted: startsOf(ledger, limits({ envelope: { slots: 9 } })) }).toEqual({ way, granted: [] });
      expect(ledger.parked).toEqual(['default']);
      const resumed = resumeLedger(JSON.parse(JSON.stringify(carryLedger(ledger))));
      resumed.receive([{ ...acquire(), ...message }], NOW);
      expect(startsOf(resumed, limits({ ...changed, envelope: { slots: 9 } }))).toEqual(['c']);
    }
  });
});

test.each<[string, (i: number) => Partial<Ticket>]>([
  ['cases of scorecards', (i) => ({ holder: `case:${SCORECARD}.${i}`, to: `window:${SCORECARD}:${i % 50}` })],
  [
    'single runs, each with a session pool of its own',
    (i) => ({
      ...{ holder: `case:run_01j9z3k4x5y6w7v8t9s0r${i}`, workspace: 'a'.repeat(63) },
      ...{ promotedAt: 1_700_000_000_000 + i, expectedMs: 1_000_000 + i },
      demand: {
        memoryMb: 100_000 + i,
        cpuMillicores: 10_000 + i,
        sessionPool: `${'a'.repeat(63)}/${`${i}`.padStart(63, 'h')}`,
      },
    }),
  ],
])(
  '5,000 tickets of %s, and 500 leases, are carried in less than 1 MB, and come back as they were',
  (_title, parts) => {
    const tickets = Array.from({ length: 5_500 }, (_, i) =>
      aTicket({
        ...{ askedAt: 1_700_000_000_000 + i, demand: { memoryMb: 1_000 + i, cpuMillicores: 1_000 + i } },
        ...parts(i),
      }),
    );
    const ledger = ledgerOf(tickets);
    for (let i = 0; i < 3; i += 1) decide(ledger, { slots: 500 });
    const carried = JSON.stringify(carryLedger(ledger));
    expect(carried.length).toBeLessThan(1_000_000);
    const resumed = resumeLedger(JSON.parse(carried));
    expect([...resumed.state.tickets]).toEqual([...ledger.state.tickets]);
    expect([...resumed.leases]).toEqual([...ledger.leases]);
  },
);
