import type { OpenRun } from '../policy/partition.js';
import { caseWorkflowId } from './messages.js';
import { WindowCases } from './window-cases.js';

const aRun = (ordinal: number, parts: Partial<OpenRun> = {}): OpenRun => ({
  runId: `sc_1.${ordinal}`,
  caseId: `case-${ordinal}`,
  poolId: 'rt:default:here',
  kind: 'local',
  class: 'batch',
  demand: {},
  infraRetries: 2,
  attempt: 1,
  isCancelRequested: false,
  ...parts,
});
const holder = (ordinal: number): string => caseWorkflowId(`sc_1.${ordinal}`);

function casesOf(runs: OpenRun[], queueDeadlineSec = 60): WindowCases {
  const cases = new WindowCases({ workspaceId: 'default', scorecardId: 'sc_1', windowId: 'window:sc_1:0' });
  cases.load(runs, queueDeadlineSec);
  return cases;
}

test('asks for as many as the width allows, by pool, in groups', () => {
  const cases = casesOf([aRun(0), aRun(1, { poolId: 'rt:default:there' }), aRun(2), aRun(3)]);
  const asked = cases.askNext(3, 1_000);
  expect([...asked.keys()]).toEqual(['rt:default:here', 'rt:default:there']);
  expect(asked.get('rt:default:here')).toEqual([
    { holder: holder(0), to: 'window:sc_1:0', class: 'batch', demand: {}, askedAt: 1_000 },
    { holder: holder(2), to: 'window:sc_1:0', class: 'batch', demand: {}, askedAt: 1_000 },
  ]);
  expect(cases.canAsk(3, 1)).toBe(false);
  cases.accept([{ holder: holder(0), seq: 1, epoch: 1 }]);
  cases.ended(holder(0));
  expect(cases.canAsk(3, 2)).toBe(true);
  expect(cases.canAsk(4, 9)).toBe(true);
});

test('starts a granted case once; a grant for one that runs is its own affair, any other goes back', () => {
  const cases = casesOf([aRun(0)]);
  cases.askNext(5, 0);
  const grant = { holder: holder(0), seq: 7, epoch: 1 };
  expect(cases.accept([grant]).start).toMatchObject([{ runId: 'sc_1.0', grant: { seq: 7, epoch: 1 } }]);
  expect(cases.accept([grant])).toEqual({ start: [], unwanted: [] });
  cases.ended(holder(0));
  expect(cases.accept([grant])).toEqual({ start: [], unwanted: [grant] });
});

test('a run whose attempt is open starts at once under the lease it holds', () => {
  const cases = casesOf([aRun(0, { openSeq: 5, attempt: 2 }), aRun(1)]);
  expect(cases.startOpen()).toMatchObject([{ runId: 'sc_1.0', attempt: 2, isOpen: true, grant: { seq: 5, epoch: 0 } }]);
  expect(cases.remaining).toBe(1);
  expect(cases.running).toBe(1);
});

test('a run that an earlier window asked for goes on waiting since then', () => {
  const cases = casesOf([aRun(0, { askedAt: 400 }), aRun(1)], 60);
  const [tickets] = [...cases.askNext(2, 50_000).values()];
  expect(tickets?.map(({ askedAt }) => askedAt)).toEqual([400, 50_000]);
  expect(cases.expire(60_400)).toMatchObject([{ run: { runId: 'sc_1.0' }, waitedMs: 60_000 }]);
  expect(cases.accept([{ holder: holder(1), seq: 1, epoch: 1 }]).start).toMatchObject([{ askedAt: 50_000 }]);
});

test('tickets that waited too long are taken back with the time they waited', () => {
  const cases = casesOf([aRun(0), aRun(1)], 60);
  cases.askNext(1, 0);
  cases.askNext(2, 30_000);
  expect(cases.untilDeadlineMs(50_000)).toBe(10_000);
  expect(cases.expire(60_000)).toMatchObject([{ run: { runId: 'sc_1.0' }, waitedMs: 60_000 }]);
  expect(cases.waiting).toBe(1);
  expect(cases.withdrawAll()).toEqual([{ poolId: 'rt:default:here', release: { holder: holder(1) } }]);
  expect(cases.inFlight).toBe(0);
});

test('a promoted run is asked for next, whatever the width; one that waits already is left where it is', () => {
  const cases = casesOf([aRun(0), aRun(1), aRun(2), aRun(3), aRun(4, { isPromoted: true })]);
  const holdersOf = (asked: ReturnType<WindowCases['askNext']>) => [...asked.values()].flat().map((one) => one.holder);
  expect(holdersOf(cases.askNext(2, 0))).toEqual([holder(4), holder(0)]);
  expect(cases.canAsk(2, 1)).toBe(false);
  cases.promote('sc_1.0');
  expect(cases.canAsk(2, 1)).toBe(false);
  cases.promote('sc_1.3');
  expect(cases.canAsk(2, 1)).toBe(true);
  expect(holdersOf(cases.askNext(2, 0))).toEqual([holder(3)]);
  expect(holdersOf(cases.askNext(9, 0))).toEqual([holder(1), holder(2)]);
  expect(cases.remaining).toBe(0);
});

test('a run that is promoted before its window has listed it comes first once it has', () => {
  const cases = casesOf([]);
  cases.promote('sc_1.2');
  cases.load([aRun(0), aRun(1), aRun(2)], 60);
  expect([...cases.askNext(1, 0).values()].flat().map((one) => one.holder)).toEqual([holder(2)]);
});

test('where somebody allowed so many at once, a promoted run is next, and waits for width like any other', () => {
  const scope = { workspaceId: 'default', scorecardId: 'sc_1', windowId: 'window:sc_1:0', isCapped: true };
  const cases = new WindowCases(scope);
  cases.load([aRun(0), aRun(1), aRun(2)], 60);
  cases.askNext(1, 0);
  cases.promote('sc_1.2');
  expect(cases.canAsk(1, 1)).toBe(false);
  expect([...cases.askNext(1, 0).values()]).toEqual([]);
  expect([...cases.askNext(2, 0).values()].flat().map((one) => one.holder)).toEqual([holder(2)]);
});
