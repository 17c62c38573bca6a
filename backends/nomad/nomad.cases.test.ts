import { randomUUID } from 'node:crypto';
import type { Answer } from '../../dev/fake-nomad/fake-answer.js';
import { event, pullFailed, rawAllocation, STARTED, terminated } from '../../test/nomad-allocations.js';
import { printedRecord, runCase } from '../../test/nomad-case.js';
import { frames, logFrame, type Script, ScriptedCases } from '../../test/nomad-script.js';

let nomad: ScriptedCases;
beforeAll(async () => {
  nomad = await ScriptedCases.start();
});
afterAll(() => nomad.stop());

const says = (status: number, body: string): Answer => ({ status, body });
const NOT_STARTED = says(404, 'task "case" not started yet. No logs available');
const RECEIVED = event('Received', 'Task received by client');
const PULLING = event('Driver', 'Downloading image');

/** An allocation of an id of its own. */
const an = (parts: object, ...events: object[]) => rawAllocation({ ID: randomUUID(), ...parts }, ...events);
const running = (parts: object = {}) => an({ ClientStatus: 'running', ...parts }, RECEIVED, STARTED);
const ended = (exitCode: string, parts: object = {}) => an(parts, RECEIVED, STARTED, terminated(exitCode));
/** One that runs, and waits to be stopped once it has printed. */
const printing = (text: string): Script => ({ allocations: [[running()]], logs: [text] });

test('a case runs to its record, is stopped, and leaves nothing that lives', async () => {
  const found = await runCase(nomad, printing(`hello\n${printedRecord()}`));
  expect(found).toMatchObject({ outcome: 'passed', output: 'hello\n', provenance: { node: 'rack-1' } });
  expect(found.requests.filter(({ method }) => method === 'DELETE').length).toBe(1);
});

describe('N01 a log that was collected before it was read', () => {
  test.each([
    ['a', says(500, 'failed to list entries: open /x/alloc/A/alloc/logs: no such file or directory')],
    ['b', says(404, 'state for allocation A not found on client')],
    ['c', says(404, 'Unknown allocation "A"')],
  ])('%s is told alike, with the exit code and the way out', async (_variant, answer) => {
    const [found, sibling] = await Promise.all([
      runCase(nomad, { allocations: [[ended('0')]], logs: [answer] }),
      runCase(nomad, printing(printedRecord())),
    ]);
    expect(found).toMatchObject({
      outcome: 'infra RESULT_LOST',
      isRetried: true,
      reason: expect.stringMatching(/exit code 0.*`client.gc_max_allocs`.* 90 or more/),
    });
    expect(found.reason).not.toMatch(/\/x\//);
    expect(found.tookMs).toBeLessThan(3_000);
    expect(sibling.outcome).toBe('passed');
  });
});

test('N03 nothing is purged, and what other losses take is infra', async () => {
  const lost = an(
    { ClientStatus: 'lost', DesiredStatus: 'stop', DesiredDescription: 'alloc is lost since its node is down' },
    STARTED,
  );
  const losing = (): Script => ({ allocations: [[running()], [{ ...lost, ID: randomUUID() }]], logs: [''] });
  const scripts = [printing(printedRecord()), ...Array.from({ length: 5 }, losing)];
  // An allocation keeps its id from look to look.
  for (const { allocations = [] } of scripts) {
    const ID = randomUUID();
    for (const step of allocations) for (const allocation of step) Object.assign(allocation, { ID });
  }
  const found = await Promise.all(scripts.map((script) => runCase(nomad, script)));
  expect(found.map(({ outcome }) => outcome)).toEqual(['passed', ...Array(5).fill('infra NODE_LOST')]);
  expect(found.slice(1).every(({ isRetried }) => isRetried)).toBe(true);
  expect(nomad.requests.some(({ query }) => query.has('purge'))).toBe(false);
});

describe('N05 a log that comes short', () => {
  const text = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join('');
  const size = (of: string): Answer => ({
    status: 200,
    body: [{ Name: 'case.stdout.0', Size: Buffer.byteLength(of) }],
  });
  const whole = text + printedRecord();

  test('is asked for again, until all of it is there', async () => {
    const short = frames(logFrame(text.slice(0, 50_000), 50_000));
    const found = await runCase(nomad, {
      allocations: [[ended('0')]],
      logs: [short, frames('{}'), whole],
      files: size(whole),
    });
    expect(found).toMatchObject({ outcome: 'passed', output: text });
  });

  test('that may not be measured is no ground for a verdict in silence', async () => {
    const files = says(403, 'Permission denied');
    const found = await runCase(nomad, { allocations: [[ended('0')]], logs: ['only this\n'], files });
    expect(found.outcome).toBe('agent ABORTED');
    expect(found.reason).toMatch(/exit code 0; nothing tells how long its log is: .*`read-fs`/);
  });
});

test('N07 a node that cannot be reached now is asked again', async () => {
  const noPath = says(404, 'No path to node');
  const found = await runCase(nomad, {
    allocations: [[ended('0')]],
    logs: [noPath, noPath, `late\n${printedRecord()}`],
  });
  expect(found).toMatchObject({ outcome: 'passed', output: 'late\n' });
});

test('N09 a line that was split between two files is one line', async () => {
  const [head, tail] = ['{"score":0.', `91}\n${printedRecord()}`];
  const log = frames(logFrame(head, head.length, 3), logFrame(tail, tail.length, 4));
  const files = {
    status: 200,
    body: [
      { Name: 'case.stdout.3', Size: head.length },
      { Name: 'case.stdout.4', Size: tail.length },
    ],
  };
  const found = await runCase(nomad, { allocations: [[ended('0')]], logs: [log], files });
  expect(found).toMatchObject({ outcome: 'passed', output: '{"score":0.91}\n' });
});

describe('N11 E03 an image that cannot be pulled', () => {
  const flapping = (why: string) =>
    an({ ClientStatus: 'pending' }, RECEIVED, PULLING, pullFailed(why, 'nope:0'), event('Restarting'));
  const failed = (why: string) =>
    an({ ClientStatus: 'failed' }, RECEIVED, PULLING, pullFailed(why, 'nope:0'), event('Not Restarting'));

  test.each([
    ['unauthorized', flapping],
    ['manifest for nope:0 not found: manifest unknown', flapping],
    ['unauthorized', failed],
    ['pull access denied for nope, repository does not exist or may require login', failed],
  ])('for ever (%s) ends it at once, with the words of the registry', async (why, make) => {
    const found = await runCase(nomad, { allocations: [[make(why)]], logs: [NOT_STARTED] });
    expect(found).toMatchObject({ outcome: 'config IMAGE_UNAVAILABLE', isRetried: false });
    expect(found.reason).toContain(`\`nope:0\`: ${why}`);
    expect(found.reason).not.toMatch(/gc_max_allocs/);
    expect(found.tookMs).toBeLessThan(3_000);
  });

  test('for a while ends it after the patience for that, and is tried again', async () => {
    const script = { allocations: [[flapping('net/http: TLS handshake timeout')]], logs: [NOT_STARTED] };
    const found = await runCase(nomad, script, { patience: { startMs: 60_000, pullErrorMs: 100 } });
    expect(found).toMatchObject({ outcome: 'infra IMAGE_PULL_FAILED', isRetried: true });
    expect(found.reason).toMatch(/`nope:0`.*TLS handshake timeout/);
    expect(found.requests.some(({ method }) => method === 'DELETE')).toBe(true);
  });

  test('is no success of the others', async () => {
    const missing: Script = { allocations: [[failed('manifest unknown')]], logs: [NOT_STARTED] };
    const found = await Promise.all(
      [printing(printedRecord()), printing(printedRecord(1)), missing].map((script) => runCase(nomad, script)),
    );
    expect(found.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'config IMAGE_UNAVAILABLE']);
  });
});

test('N13 what only pulls its image is ended, whatever its job says', async () => {
  const pulling = an({ ClientStatus: 'pending' }, RECEIVED, PULLING);
  const found = await runCase(
    nomad,
    { allocations: [[pulling]], logs: [NOT_STARTED] },
    { patience: { startMs: 300, pullErrorMs: 100 } },
  );
  expect(found).toMatchObject({ outcome: 'infra START_TIMEOUT', isRetried: true });
  expect(found.reason).toMatch(/pulling its image on node rack-1 \(Downloading image\)/);
  expect(found.requests.some(({ method }) => method === 'DELETE')).toBe(true);
});

describe('placement', () => {
  const CLASS = `\${node.class} = gpu`;
  const filtered = { case: { NodesEvaluated: 4, NodesFiltered: 4, ConstraintFiltered: { [CLASS]: 4 } } };
  const exhausted = { case: { NodesEvaluated: 1, NodesExhausted: 1, DimensionExhausted: { memory: 1, cpu: 1 } } };
  const E1 = { ID: 'e1', Status: 'complete', TriggeredBy: 'job-register', CreateIndex: 1, FailedTGAllocs: filtered };
  const E2 = { ID: 'e2', Status: 'blocked', TriggeredBy: 'queued-allocs', CreateIndex: 2, FailedTGAllocs: filtered };
  const E3 = {
    ID: 'e3',
    Status: 'canceled',
    CreateIndex: 3,
    StatusDescription: 'existing blocked evaluation exists for job "J"',
  };

  test('N15 is waited for by the blocked evaluation, wherever it is named, and goes on', async () => {
    const script: Script = { allocations: [[], [], [running()]], evaluations: [E1, E3, E2], logs: [printedRecord()] };
    const found = await runCase(nomad, script, { spec: { placementPatienceSec: 60 } });
    expect(found.outcome).toBe('passed');
    expect(found.waiting).toEqual([expect.stringContaining(CLASS), undefined]);
  });

  test('D31 that is blocked is told once, and ends the case after the patience for it, naming why', async () => {
    const blocked = { ...E2, FailedTGAllocs: exhausted };
    const found = await runCase(nomad, { evaluations: [blocked] }, { spec: { placementPatienceSec: 1 } });
    expect(found).toMatchObject({ outcome: 'infra PLACEMENT_TIMEOUT', isRetried: true });
    expect(found.waiting).toEqual([expect.stringMatching(/placement blocked.*cpu exhausted.*memory exhausted/)]);
    expect(found.reason).toMatch(/cpu exhausted.*memory exhausted/);
    expect(found.requests.some(({ method }) => method === 'DELETE')).toBe(true);
  });

  test('D31 that is not decided yet is just queued, and ends nothing early', async () => {
    const looks = [[], [], [], [running()]];
    const script: Script = {
      allocations: looks,
      evaluations: [{ ...E1, Status: 'pending', FailedTGAllocs: null }],
      logs: [printedRecord()],
    };
    const found = await runCase(nomad, script, { spec: { placementPatienceSec: 1 } });
    expect(found).toMatchObject({ outcome: 'passed', waiting: [] });
  });
});

test('N17 the verdict is of the allocation that was seen, and the other is stopped and told of', async () => {
  const a = ended('0', { CreateIndex: 5 });
  const b = running({ CreateIndex: 9 });
  const found = await runCase(nomad, {
    allocations: [[a], [b]],
    logs: [says(500, 'failed to list entries: open /x: no such file or directory')],
  });
  expect(found).toMatchObject({
    outcome: 'infra RESULT_LOST',
    reason: expect.stringMatching(/exit code 0/),
    provenance: { allocation: a.ID, anomalies: [expect.stringContaining(b.ID)] },
  });
  expect(found.requests.filter(({ method }) => method === 'DELETE').length).toBe(1);
});

test('N17 a record in hand is final, whatever runs again', async () => {
  const a = ended('0', { CreateIndex: 5 });
  const b = running({ CreateIndex: 9 });
  expect(await runCase(nomad, { allocations: [[a], [b]], logs: [printedRecord()] })).toMatchObject({
    outcome: 'passed',
  });
});

const LOST = { DesiredStatus: 'stop', DesiredDescription: 'alloc is lost since its node is down' };

test.each<[string, object, string, RegExp]>([
  [
    'N19 a lost node',
    an(LOST, STARTED, event('Killing'), terminated('137'), event('Killed')),
    'infra NODE_LOST',
    /node rack-1 was lost/,
  ],
  [
    'N31 one that never ran',
    an({ DesiredStatus: 'stop', DesiredDescription: 'alloc not needed due to job update' }),
    'infra ALLOCATION_LOST',
    /never started/,
  ],
  [
    'a drain',
    ended('137', { DesiredStatus: 'stop', DesiredDescription: 'alloc is being migrated' }),
    'infra EVICTED',
    /drained/,
  ],
  [
    'a preemption',
    ended('137', { DesiredStatus: 'evict', PreemptedByAllocation: 'b7' }),
    'infra EVICTED',
    /preempted by allocation b7/,
  ],
  [
    'D33 memory by the driver',
    an({ ClientStatus: 'failed' }, STARTED, terminated('137', { oom_killed: 'true' })),
    'config OOM_KILLED',
    /`resources.memoryMb`/,
  ],
  [
    'D33 memory by the message',
    an({ ClientStatus: 'failed' }, STARTED, terminated('137', { exit_message: 'OOM Killed' })),
    'config OOM_KILLED',
    /`resources.memoryMb`/,
  ],
  ['D33 a kill alone', ended('137', { ClientStatus: 'failed' }), 'agent ABORTED', /137.*`resources.memoryMb`/],
  ['G67 an end like others', ended('3', { ClientStatus: 'failed' }), 'agent ABORTED', /exit code 3/],
])('%s: without a record', async (_title, allocation, outcome, reason) => {
  const found = await runCase(nomad, { allocations: [[allocation]], logs: ['some output\n'] });
  expect(found).toMatchObject({
    outcome,
    reason: expect.stringMatching(reason),
    isRetried: outcome.startsWith('infra'),
  });
});

test.each<[string, object]>([
  ['a lost node', an(LOST, STARTED, terminated('137'))],
  ['a drain', ended('137', { DesiredStatus: 'stop', DesiredDescription: 'alloc is being migrated' })],
  ['memory that ran out', an({ ClientStatus: 'failed' }, STARTED, terminated('137', { oom_killed: 'true' }))],
])('N19 a record in hand is the verdict, whatever follows: %s', async (_title, allocation) => {
  expect((await runCase(nomad, { allocations: [[allocation]], logs: [printedRecord()] })).outcome).toBe('passed');
});

test('N21 a task that Nomad started again is told of', async () => {
  const tasks = {
    case: { State: 'running', Failed: false, Restarts: 2, StartedAt: '2026-01-01T00:00:00Z', Events: [STARTED] },
  };
  const found = await runCase(nomad, { allocations: [[running({ TaskStates: tasks })]], logs: [printedRecord()] });
  expect(found).toMatchObject({
    outcome: 'passed',
    provenance: { anomalies: [expect.stringMatching(/2 times more/)] },
  });
});
