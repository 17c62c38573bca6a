import type { LeaseEnd } from '../../contracts/admission.js';
import { aTicket } from '../../test/builders.js';
import { carryLedger, resumeLedger } from './carry.js';
import { Circuit } from './circuit.js';
import { Ledger } from './ledger.js';

const NOW = 1_000_000;
const OPENED = { state: 'open', failures: 3, until: new Date(NOW + 30_000).toISOString() };
const CLOSED = { state: 'closed', failures: 0, until: null };

type Ends = [run: string, end: LeaseEnd | undefined][];

/** `case:` holders whose leases ended so, one after another. */
function after(ends: Ends): Circuit {
  const circuit = new Circuit();
  for (const [run, end] of ends) circuit.ended(run, end, NOW);
  return circuit;
}
const opened = (): Circuit =>
  after([
    ['a', 'NODE_LOST'],
    ['b', 'NODE_LOST'],
    ['c', 'NODE_LOST'],
  ]);
/** Its time is over, and `probe` was granted. */
function probing(): Circuit {
  const circuit = opened();
  circuit.granted('probe', NOW + 30_000);
  return circuit;
}

test.each<[string, Ends, boolean]>([
  [
    'three failures of three runs',
    [
      ['a', 'CLUSTER_UNREACHABLE'],
      ['b', 'CLUSTER_AUTH'],
      ['c', 'NODE_LOST'],
    ],
    true,
  ],
  [
    'three failures of two runs',
    [
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
      ['b', 'NODE_LOST'],
    ],
    true,
  ],
  [
    'two failures',
    [
      ['a', 'NODE_LOST'],
      ['b', 'NODE_LOST'],
    ],
    false,
  ],
  [
    'five failures of one run',
    [
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
    ],
    false,
  ],
  [
    'one run that fails often and then another',
    [
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
      ['a', 'NODE_LOST'],
      ['b', 'NODE_LOST'],
    ],
    true,
  ],
  [
    'failures with one that ran between',
    [
      ['a', 'NODE_LOST'],
      ['b', 'NODE_LOST'],
      ['c', 'ran'],
      ['d', 'NODE_LOST'],
    ],
    false,
  ],
  [
    'failures with others between that say nothing',
    [
      ['a', 'NODE_LOST'],
      ['x', 'IMAGE_PULL_FAILED'],
      ['b', 'NODE_LOST'],
      ['y', undefined],
      ['c', 'NODE_LOST'],
    ],
    true,
  ],
  [
    'a bad image, however often',
    Array.from({ length: 9 }, (_, i): Ends[number] => [`r${i}`, 'IMAGE_PULL_FAILED']),
    false,
  ],
  [
    'evictions, and jobs that cannot work',
    [
      ['a', 'EVICTED'],
      ['b', 'BAD_SPEC'],
      ['c', 'IMAGE_UNAVAILABLE'],
      ['d', 'OOM_KILLED'],
    ],
    false,
  ],
])('after %s it is open or not as it should be', (_title, ends, isOpen) => {
  const circuit = after(ends);
  expect(circuit.view.state).toBe(isOpen ? 'open' : 'closed');
  expect(circuit.room(NOW)).toBe(isOpen ? 0 : Number.POSITIVE_INFINITY);
  expect(circuit.changesAt(NOW)).toBe(isOpen ? NOW + 30_000 : undefined);
});

test('open for 30 s, it then lets one through', () => {
  const circuit = opened();
  expect([circuit.view, circuit.room(NOW + 29_999), circuit.room(NOW + 30_000)]).toEqual([OPENED, 0, 1]);
  circuit.granted('probe', NOW + 30_000);
  expect(circuit.room(NOW + 30_001)).toBe(0);
  expect(circuit.view).toEqual({ state: 'probing', failures: 3, until: null });
  expect(circuit.changesAt(NOW + 30_001)).toBe(NOW + 90_000);
});

test.each<[string, LeaseEnd | undefined, unknown]>([
  ['that ran closes it', 'ran', CLOSED],
  ['that failed of something else closes it', 'IMAGE_PULL_FAILED', CLOSED],
  [
    'that failed of the runtime opens it again',
    'CLUSTER_AUTH',
    { state: 'open', failures: 4, until: new Date(NOW + 70_000).toISOString() },
  ],
  ['that was never tried leaves its turn to the next', undefined, OPENED],
])('a probe %s', (_title, end, want) => {
  const circuit = probing();
  circuit.ended('other', 'NODE_LOST', NOW + 40_000);
  circuit.ended('another', 'ran', NOW + 40_000);
  expect(circuit.view.state).toBe('probing');
  circuit.ended('probe', end, NOW + 40_000);
  expect(circuit.view).toEqual(want);
  expect(circuit.room(NOW + 40_000)).toBe(
    end === undefined ? 1 : end === 'CLUSTER_AUTH' ? 0 : Number.POSITIVE_INFINITY,
  );
});

test('a probe that is silent for 60 s is looked at until it runs or ends', () => {
  const circuit = probing();
  expect([circuit.silent(NOW + 89_999), circuit.silent(NOW + 90_000)]).toEqual([undefined, 'probe']);
  circuit.looked('probe', false, NOW + 90_000);
  expect([circuit.room(NOW + 90_000), circuit.silent(NOW + 149_999), circuit.changesAt(NOW + 90_000)]).toEqual([
    0,
    undefined,
    NOW + 150_000,
  ]);
  circuit.looked('another', true, NOW + 150_000);
  expect(circuit.view.state).toBe('probing');
  circuit.looked('probe', true, NOW + 150_000);
  expect([circuit.room(NOW + 150_000), circuit.silent(NOW + 999_999)]).toEqual([Number.POSITIVE_INFINITY, undefined]);
  // Its own end is the first of a new row.
  circuit.ended('probe', 'NODE_LOST', NOW + 155_000);
  expect(circuit.view).toEqual({ state: 'closed', failures: 1, until: null });
});

test('it is closed by a reset, and goes on from what was carried', () => {
  const circuit = new Circuit(JSON.parse(JSON.stringify(probing().state)));
  expect(circuit.view.state).toBe('probing');
  circuit.reset();
  expect([circuit.view, circuit.room(NOW + 31_000)]).toEqual([CLOSED, Number.POSITIVE_INFINITY]);
});

test('a ledger grants nothing while it is open, then one ticket, and all once that ran', () => {
  const limits = { envelope: { slots: 10 }, workspaces: {}, pausedScorecards: [] };
  const ledger = Ledger.open(
    1,
    [],
    Array.from({ length: 6 }, (_, i) => aTicket({ holder: `case:${i}` })),
  );
  const first = ledger.decide(limits, NOW, 3).granted;
  const release = first.map(({ holder, seq }) => ({ holder, seq, end: 'NODE_LOST' as const }));
  // Told twice, an end counts once.
  ledger.receive([{ acquire: [], release: [...release.slice(0, 1), ...release] }], NOW);
  expect(ledger.decide(limits, NOW + 29_999).granted).toEqual([]);

  const resumed = resumeLedger(JSON.parse(JSON.stringify(carryLedger(ledger))));
  const [probe, ...others] = resumed.decide(limits, NOW + 30_000).granted;
  expect(others).toEqual([]);
  resumed.receive(
    [{ acquire: [], release: [{ holder: probe?.holder ?? '', seq: probe?.seq, end: 'ran' }] }],
    NOW + 31_000,
  );
  expect(resumed.decide(limits, NOW + 31_000).granted).toHaveLength(2);
});

test('a ledger is told to close it', () => {
  const ledger = Ledger.open(1, [], [aTicket()]);
  for (const run of ['a', 'b', 'c']) ledger.circuit.ended(run, 'NODE_LOST', NOW);
  const limits = { envelope: { slots: 10 }, workspaces: {}, pausedScorecards: [] };
  expect(ledger.decide(limits, NOW).granted).toEqual([]);
  ledger.receive([{ acquire: [], release: [], resetCircuit: true }], NOW);
  expect(ledger.decide(limits, NOW).granted).toHaveLength(1);
});
