import { failureOf, kinds, labsAt, NONCE, printed, REF, recordText, watched } from '../../test/nomad-jobs.js';
import { ALLOCATION_ID, anAllocation, exited, JOB_NAME, ScriptedNomad, text } from '../../test/scripted-nomad.js';
import type { AllocationEvent } from '../backend.js';

let nomad: ScriptedNomad;
const { lab } = labsAt(() => nomad.url);
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
});
beforeEach(() => {
  nomad.reset();
});
afterAll(() => nomad.stop());

const LOGS = `/v1/client/fs/logs/${ALLOCATION_ID}`;

test('a job that runs is placed, followed and ends with its record, after what it printed', async () => {
  nomad.allocations([], [anAllocation()]);
  nomad.stdout = `hello\n${recordText()}`;
  nomad.stderr = 'careful\n';
  const events = await watched(lab());
  expect(events[0]).toMatchObject({
    kind: 'placed',
    as: ALLOCATION_ID,
    provenance: { node: 'node-1', nodeId: 'n1', allocation: ALLOCATION_ID },
  });
  expect(events.at(-1)).toMatchObject({ kind: 'record', record: { status: 0 } });
  expect([printed(events), printed(events, 'stderr')]).toEqual(['hello\n', 'careful\n']);
});

test('G69 another worker goes on at the offsets that are stored, and with the allocation that was noted', async () => {
  const other = 'bbbbbbbb-0000-4000-8000-000000000002';
  nomad.allocations([anAllocation({ ID: other, CreateIndex: 9 }), anAllocation()]);
  nomad.stdout = `hello\n${recordText()}`;
  const events = await watched(lab(), { ...REF, placedAs: ALLOCATION_ID }, { from: { stdout: 3, stderr: 0 } });
  expect(events.filter(({ kind }) => kind === 'log')).toMatchObject([{ at: 3, bytes: Buffer.from('lo\n') }]);
  expect(events.at(-1)).toMatchObject({ kind: 'record' });
});

test('D37 nothing is asked for under a signal that has aborted', async () => {
  expect(await watched(lab(), REF, { signal: AbortSignal.abort() })).toEqual([]);
  expect(nomad.requests).toEqual([]);
});

test('D37 a watch that is aborted ends without an event, and its request with it', async () => {
  const controller = new AbortController();
  nomad.allocations([anAllocation()]);
  const { backend } = lab();
  const events: AllocationEvent[] = [];
  const watch = { from: { stdout: 0, stderr: 0 }, signal: controller.signal, limitMs: 3_600_000 };
  for await (const event of backend.watch(REF, watch)) {
    events.push(event);
    setTimeout(() => controller.abort(), 50);
  }
  expect(kinds(events)).toEqual(['placed']);
});

const BLOCKED = {
  ID: 'e2',
  Status: 'blocked',
  StatusDescription: 'created to place remaining allocations',
  TriggeredBy: 'queued-allocs',
  CreateIndex: 4,
  FailedTGAllocs: { case: { NodesEvaluated: 2, NodesExhausted: 2, DimensionExhausted: { memory: 1, cpu: 1 } } },
};

test('D31 a job that is just queued waits, and one that is placed after all no longer says that it waits', async () => {
  nomad.evaluations(
    [{ ID: 'e1', Status: 'pending' }],
    [BLOCKED],
    [{ ...BLOCKED, Status: 'complete', FailedTGAllocs: null }],
  );
  nomad.allocations([], [], [], [anAllocation()]);
  nomad.stdout = recordText();
  const events = await watched(lab({ placementPatienceSec: 1 }));
  expect(kinds(events)).toEqual(['waiting', 'waiting', 'placed', 'record']);
  expect(events[1]).toEqual({ kind: 'waiting' });
});

test('a datacenter that no node is in is the fault of the runtime, by its field', async () => {
  const empty = { NodesEvaluated: 0, NodesAvailable: {} };
  nomad.evaluations([{ ...BLOCKED, FailedTGAllocs: { case: empty } }]);
  const node = { ID: 'n', Name: 'n', Datacenter: 'dc1', Status: 'ready', SchedulingEligibility: 'eligible' };
  nomad.on('GET /v1/nodes', { body: [node] });
  const events = await watched(lab({ placementPatienceSec: 1, datacenters: ['nowhere'] }));
  expect(failureOf(events)).toMatchObject({
    code: 'BAD_SPEC',
    message: expect.stringMatching(/`datacenters`: no node is in nowhere; there are dc1/),
  });
});

const downloading = { Type: 'Driver', DisplayMessage: 'Downloading image' };
const pending = (events: object[]) =>
  anAllocation({ ClientStatus: 'pending', TaskStates: { case: { State: 'pending', Restarts: 0, Events: events } } });

test('N13 a pull that stalls is a start that takes too long, and names it', async () => {
  nomad.allocations([pending([downloading])]);
  const events = await watched(lab({ patience: { startMs: 2_500 } }));
  expect(kinds(events)).toEqual(['placed', 'waiting', 'failed']);
  expect(failureOf(events)).toMatchObject({
    code: 'START_TIMEOUT',
    message: expect.stringMatching(/pulling its image/),
  });
});

const pullError = (text: string) => ({
  Type: 'Driver Failure',
  DisplayMessage: `Failed to pull \`r/x:1\`: ${text}`,
  Details: { driver_error: `Failed to pull \`r/x:1\`: ${text}` },
});

test('an image that may not be pulled ends it at once; one whose registry fails has some patience', async () => {
  nomad.allocations([pending([downloading, pullError('unauthorized')])]);
  expect(failureOf(await watched(lab()))).toMatchObject({
    code: 'IMAGE_UNAVAILABLE',
    message: expect.stringMatching(/r\/x:1.*unauthorized/),
  });
  nomad.allocations([pending([downloading, pullError('i/o timeout')])]);
  expect(failureOf(await watched(lab({ patience: { pullErrorMs: 300 } })))).toMatchObject({
    code: 'IMAGE_PULL_FAILED',
  });
});

test('N17 the verdict is that of the first allocation, and another one is named', async () => {
  const other = anAllocation({ ID: 'bbbbbbbb-0000-4000-8000-000000000002', CreateIndex: 20 });
  const ended = anAllocation({ ClientStatus: 'complete', TaskStates: exited(0) });
  nomad.allocations([ended], [other]);
  nomad.on(`GET /v1/allocation/${ALLOCATION_ID}`, text(404, 'alloc not found'));
  nomad.stdout = recordText();
  const events = await watched(lab());
  expect(events.at(-1)).toMatchObject({ kind: 'record', record: { status: 0 } });
  nomad.allocations([ended], [other]).stdout = '';
  const silent = await watched(lab());
  expect(silent.at(-1)).toMatchObject({ kind: 'silent' });
  expect(silent.filter(({ kind }) => kind === 'placed').at(-1)).toMatchObject({
    as: ALLOCATION_ID,
    provenance: { anomalies: [expect.stringMatching(/another allocation of it, bbbbbbbb/)] },
  });
});

test('a record in hand stands, whatever the allocation is said to be', async () => {
  nomad.allocations([
    anAllocation({
      ClientStatus: 'lost',
      DesiredStatus: 'stop',
      DesiredDescription: 'alloc is lost since its node is down',
    }),
  ]);
  nomad.stdout = recordText(3);
  expect((await watched(lab())).at(-1)).toMatchObject({ kind: 'record', record: { status: 3 } });
});

test('an allocation that Nomad forgot leaves its result lost; a job that vanished before it had one, the allocation', async () => {
  nomad.on(`GET /v1/allocation/${ALLOCATION_ID}`, text(404, 'alloc not found'));
  expect(failureOf(await watched(lab(), { ...REF, placedAs: ALLOCATION_ID }))).toMatchObject({
    code: 'RESULT_LOST',
    message: expect.stringMatching(/no longer knows.*gc_max_allocs/),
  });
  nomad.on(`GET /v1/job/${JOB_NAME}`, text(404, 'job not found'));
  expect(failureOf(await watched(lab()))).toMatchObject({ code: 'ALLOCATION_LOST' });
});

test('one that runs for too long is overdue, after all that it printed was read', async () => {
  nomad.allocations([anAllocation()]);
  nomad.stdout = 'tick\n';
  const events = await watched(lab(), REF, { limitMs: 300 });
  expect(kinds(events)).toEqual(['placed', 'log', 'overdue']);
  const late = { ...REF, submittedAt: Date.now() - 60_000 };
  nomad.stdout += recordText();
  expect((await watched(lab(), late, { limitMs: 300 })).at(-1)).toMatchObject({ kind: 'record' });
});

test('a worker that takes over says that what runs does not wait', async () => {
  nomad.allocations([anAllocation()]).stdout = recordText();
  expect(kinds(await watched(lab(), { ...REF, placedAs: ALLOCATION_ID }))).toEqual(['waiting', 'record']);
});

test('one whose log cannot be read is not overdue, and goes on once it can be', async () => {
  nomad.allocations([anAllocation()]).stdout = recordText();
  const noPath = text(404, 'No path to node');
  nomad.on(`GET ${LOGS}`, noPath, noPath, noPath, 'rst', (request) => nomad.logs(request));
  const heard: number[] = [];
  const reached = () => heard.push(nomad.seen('GET', LOGS).length);
  const late = { ...REF, submittedAt: Date.now() - 60_000 };
  expect((await watched(lab(), late, { limitMs: 1, reached })).at(-1)).toMatchObject({ kind: 'record' });
  // Nothing was heard of it between its place and its log.
  expect(heard.filter((logs) => logs > 0 && logs < 5)).toEqual([]);
});

test('evaluations that are not told leave a cluster out of reach, whatever else it answers', async () => {
  nomad.on(`GET /v1/job/${JOB_NAME}/evaluations`, text(503, 'gateway'));
  const heard: string[] = [];
  const watch = watched(lab(), REF, { reached: () => heard.push('reached') });
  await expect(watch).rejects.toMatchObject({ reason: 'error' });
  expect(heard).toEqual([]);
}, 20_000);

test('a list that changes for others is not asked for at the speed of the network', async () => {
  let index = 10;
  nomad.on(`GET /v1/job/${JOB_NAME}/allocations`, () => {
    index += 1;
    return { body: [], headers: { 'x-nomad-index': String(index) } };
  });
  nomad.evaluations([BLOCKED]);
  await watched(lab({ placementPatienceSec: 1 }));
  expect(nomad.seen('GET', /allocations$/).length).toBeLessThan(12);
});

test('forged records are output', async () => {
  nomad.allocations([anAllocation()]);
  nomad.stdout = `${recordText(0, 'beef')}${recordText(7)}`;
  const events = await watched(lab());
  expect(events.at(-1)).toMatchObject({ kind: 'record', record: { status: 7 } });
  expect(printed(events)).toBe(recordText(0, 'beef'));
  expect(NONCE).not.toBe('beef');
});
