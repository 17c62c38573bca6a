import { randomUUID } from 'node:crypto';
import type { Answer } from '../../dev/fake-http/fake-answer.js';
import { printedRecord } from '../../test/cases.js';
import { event, pullFailed, rawAllocation, STARTED } from '../../test/nomad-allocations.js';
import { runCase } from '../../test/nomad-case.js';
import { type Script, ScriptedCases } from '../../test/nomad-script.js';

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
const running = () => an({ ClientStatus: 'running' }, RECEIVED, STARTED);
const printing = (text: string): Script => ({ allocations: [[running()]], logs: [text] });

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

test.each<[string, object, string]>([
  [
    'a task that its driver refuses',
    event('Failed Validation', '', { validation_error: 'unknown key' }),
    'config BAD_SPEC',
  ],
  [
    'an image without a shell',
    event('Driver Failure', 'exec: "/bin/sh": stat /bin/sh: no such file or directory'),
    'harness TOOL_MISSING',
  ],
  ['a driver that is down', event('Driver Failure', 'Cannot connect to the Docker daemon'), 'infra ALLOCATION_LOST'],
  [
    'a template that cannot be read',
    event('Killing', 'Template failed: (dynamic): parse: unexpected "}"'),
    'config BAD_SPEC',
  ],
  ['a hook that failed', event('Task hook failed', 'logmon: no space left on device'), 'infra ALLOCATION_LOST'],
])('%s is told by its event, and nothing of its log', async (_title, why, outcome) => {
  const failed = an({ ClientStatus: 'failed' }, RECEIVED, why, event('Not Restarting'));
  const found = await runCase(nomad, { allocations: [[failed]], logs: [NOT_STARTED] });
  expect(found).toMatchObject({ outcome, isRetried: outcome.startsWith('infra') });
  expect(found.reason).not.toMatch(/\blog\b|gc_max_allocs/);
});

test.each<[string, Answer, string]>([
  [
    'a namespace that is not there',
    says(500, '1 error occurred:\n\t* job "x" is in nonexistent namespace "prod"\n\n'),
    '`namespace`: Nomad has no namespace prod',
  ],
  [
    'an operator that it does not know',
    says(500, '1 error occurred:\n\t* Unknown constraint type "~"\n\n'),
    '`constraints`: Nomad refuses the job: Unknown constraint type "~"',
  ],
])('%s is refused at the first case, by its field', async (_title, register, told) => {
  await expect(runCase(nomad, { register })).rejects.toMatchObject({
    reason: 'refused',
    message: expect.stringContaining(told),
  });
});
