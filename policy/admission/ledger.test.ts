import fc from 'fast-check';
import type { AdmissionMessage, Demand, Release, Ticket, WorkClass } from '../../contracts/admission.js';
import type { Envelope } from '../../contracts/runtime.js';
import { aTicket } from '../../test/builders.js';
import { carryLedger, resumeLedger } from './carry.js';
import { Ledger } from './ledger.js';

const NOW = 5_000;
const EPOCH = 3;

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

  test('a full queue takes no new ticket, and keeps those it has', () => {
    const full = ledgerOf(Array.from({ length: 5_000 }, (_, i) => aTicket({ holder: `${i}` })));
    full.receive([acquire(aTicket({ holder: 'late' }), aTicket({ holder: '7' }))], NOW);
    expect(full.waiting).toBe(5_000);
    expect(full.ticketOf('late')).toBeUndefined();
  });

  test('in one message releases go first', () => {
    expect(leased.receive([{ acquire: [a], release: [{ holder: 'a', isGone: true }] }], NOW)).toEqual([]);
    expect(leased.waiting).toBe(1);
  });
});

const holders = fc.constantFrom(...'abcdefghij');
const sizes = fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined });
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('acquire' as const),
      holder: holders,
      memoryMb: sizes,
      class: fc.constantFrom<WorkClass>('batch', 'interactive'),
    }),
    fc.record({ kind: fc.constant('release' as const), holder: holders, stale: fc.boolean() }),
    fc.record({ kind: fc.constant('admit' as const) }),
    fc.record({ kind: fc.constant('carry' as const) }),
  ),
  { maxLength: 60 },
);

test('whatever arrives: never over the envelope, one lease a holder, no number twice, nobody both waits and holds', () => {
  const envelope = { slots: 4, memoryMb: 1_000 };
  fc.assert(
    fc.property(steps, (taken) => {
      let ledger = ledgerOf([]);
      const seqs = new Set<number>();
      for (const step of taken) {
        if (step.kind === 'acquire') {
          const { holder, memoryMb, class: workClass } = step;
          const ticket = aTicket({ holder, class: workClass, demand: memoryMb === undefined ? {} : { memoryMb } });
          ledger.receive([acquire(ticket)], NOW);
        } else if (step.kind === 'release') {
          const seq = ledger.leases.get(step.holder)?.seq;
          release(ledger, [{ holder: step.holder, seq: step.stale ? 7 : seq }]);
        } else if (step.kind === 'carry') {
          const carried = carryLedger(ledger);
          ledger = resumeLedger(JSON.parse(JSON.stringify(carried)));
          expect(carryLedger(ledger)).toEqual(carried);
        } else {
          for (const { seq } of decide(ledger, envelope).granted) {
            expect(seqs.has(seq)).toBe(false);
            seqs.add(seq);
          }
        }
        const leases = [...ledger.leases.values()];
        expect(leases.length).toBeLessThanOrEqual(envelope.slots);
        expect(leases.reduce((sum, { demand }) => sum + (demand.memoryMb ?? 0), 0)).toBeLessThanOrEqual(
          envelope.memoryMb,
        );
        for (const holder of ledger.leases.keys()) {
          expect(ledger.ticketOf(holder)).toBeUndefined();
        }
      }
    }),
  );
});

test('5,000 tickets are carried in less than 1 MB', () => {
  const id = 'sc_01j9z3k4x5y6w7v8t9s0r1q2p3';
  const tickets = Array.from({ length: 5_000 }, (_, i) =>
    aTicket({
      ...{ holder: `case:${id}.${i}`, to: `window:${id}:${i % 50}`, askedAt: 1_700_000_000_000 + i },
      demand: { memoryMb: 1_000 + i, cpuMillicores: 1_000 + i },
    }),
  );
  const carried = JSON.stringify(carryLedger(ledgerOf(tickets)));
  expect(carried.length).toBeLessThan(600_000);
});
