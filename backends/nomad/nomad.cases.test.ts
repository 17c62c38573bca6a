import { randomUUID } from 'node:crypto';
import type { Answer } from '../../dev/fake-http/fake-answer.js';
import { printedRecord } from '../../test/cases.js';
import { event, rawAllocation, STARTED, terminated } from '../../test/nomad-allocations.js';
import { runCase } from '../../test/nomad-case.js';
import { frames, logFrame, type Script, ScriptedCases } from '../../test/nomad-script.js';

let nomad: ScriptedCases;
beforeAll(async () => {
  nomad = await ScriptedCases.start();
});
afterAll(() => nomad.stop());

const says = (status: number, body: string): Answer => ({ status, body });
const RECEIVED = event('Received', 'Task received by client');

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

test('N09 a line that was split between two files is one line, and files that were dropped before are told of', async () => {
  const [head, tail] = ['{"score":0.', `91}\n${printedRecord()}`];
  const log = frames(logFrame(head, head.length, 3), logFrame(tail, tail.length, 4));
  const files = {
    status: 200,
    body: [
      { Name: 'case.stdout.3', Size: head.length },
      { Name: 'case.stdout.4', Size: tail.length },
      { Name: 'case.stderr.0', Size: 0 },
    ],
  };
  const found = await runCase(nomad, { allocations: [[ended('0')]], logs: [log], files });
  expect(found).toMatchObject({ outcome: 'passed', output: '{"score":0.91}\n', provenance: { log: 'head cut' } });
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

test('N21 a task that Nomad starts again while it is watched is told of', async () => {
  const ID = randomUUID();
  const task = { State: 'running', Failed: false, Restarts: 0, StartedAt: '2026-01-01T00:00:00Z', Events: [STARTED] };
  const once = running({ ID, TaskStates: { case: task } });
  const again = running({ ID, TaskStates: { case: { ...task, Restarts: 1 } } });
  const logs = ['', '', '', '', '', printedRecord()];
  const found = await runCase(nomad, { allocations: [[once], [again]], logs });
  expect(found).toMatchObject({ outcome: 'passed', provenance: { anomalies: [expect.stringMatching(/once more/)] } });
});

describe('one that is taken away while it runs', () => {
  const stopped = (DesiredDescription: string, more: object = {}) => ({
    DesiredStatus: 'stop',
    DesiredDescription,
    ...more,
  });

  test.each<[string, object, object[], RegExp]>([
    ['drained, its job dead', stopped('alloc is being migrated'), [], /EVICTED.*drained.*exit code 137/],
    [
      'preempted, and queued again',
      stopped('', { DesiredStatus: 'evict', PreemptedByAllocation: 'b7' }),
      [running()],
      /EVICTED.*b7/,
    ],
    [
      'replaced',
      stopped('alloc was rescheduled because it failed', { ClientStatus: 'failed' }),
      [running()],
      /EVICTED.*replaced/,
    ],
    ['stopped by somebody', stopped('alloc not needed due to job update'), [], /EVICTED.*stopped in Nomad/],
    [
      'disconnected',
      { ClientStatus: 'lost', DesiredDescription: 'alloc is unknown since its node is disconnected' },
      [running()],
      /NODE_LOST/,
    ],
  ])('%s, is that, and is tried again', async (_title, end, others, told) => {
    const ID = randomUUID();
    const gone = says(404, `Unknown allocation "${ID}"`);
    const steps = [
      [running({ ID })],
      [ended('137', { ID, ...end }), ...others.map((other) => ({ ...other, CreateIndex: 99 }))],
    ];
    const found = await runCase(nomad, { allocations: steps, logs: ['begun\n', 'begun\n', gone] });
    expect(`${found.outcome} ${found.reason}`).toMatch(told);
    expect(found).toMatchObject({ isRetried: true, output: 'begun\n' });
  });
});
