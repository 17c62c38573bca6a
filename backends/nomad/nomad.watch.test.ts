import { aLab, type Lab, NONCE, printed, REF, recordText, watched } from '../../test/nomad-jobs.js';
import { ALLOCATION_ID, anAllocation, exited, JOB_NAME, ScriptedNomad, text } from '../../test/scripted-nomad.js';
import type { AllocationEvent } from '../backend.js';

let nomad: ScriptedNomad;
const labs: Lab[] = [];
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
});
beforeEach(() => {
  nomad.reset();
});
afterEach(async () => {
  await Promise.all(labs.splice(0).map(({ client }) => client.close()));
});
afterAll(() => nomad.stop());

function lab(options: Parameters<typeof aLab>[1] = {}): Lab {
  const made = aLab(nomad.url, options);
  labs.push(made);
  return made;
}

const LOGS = `/v1/client/fs/logs/${ALLOCATION_ID}`;
const kinds = (events: readonly AllocationEvent[]): string[] => events.map(({ kind }) => kind);
const failureOf = (events: readonly AllocationEvent[]) => {
  const last = events.at(-1);
  return last?.kind === 'failed' ? last.failure : last;
};

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

test('D31 a blocked placement is said once, and fails after its patience with what is exhausted', async () => {
  nomad.evaluations([BLOCKED]);
  const events = await watched(lab({ placementPatienceSec: 1 }));
  expect(kinds(events)).toEqual(['waiting', 'failed']);
  expect(events[0]).toMatchObject({ detail: expect.stringMatching(/placement blocked.*cpu exhausted/) });
  expect(failureOf(events)).toMatchObject({
    code: 'PLACEMENT_TIMEOUT',
    message: expect.stringMatching(/placementPatienceSec.*cpu exhausted.*memory exhausted/),
  });
});

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

test('N15 a sibling that was canceled is no end, and the blocked one is found among all of the job', async () => {
  const first = {
    ...BLOCKED,
    ID: 'e1',
    Status: 'complete',
    TriggeredBy: 'job-register',
    CreateIndex: 3,
    BlockedEval: '',
  };
  const group = { NodesEvaluated: 4, NodesFiltered: 4, ConstraintFiltered: { '${node.class} = gpu': 4 } };
  nomad.evaluations([
    { ...first, FailedTGAllocs: { case: group } },
    {
      ID: 'e3',
      Status: 'canceled',
      CreateIndex: 5,
      StatusDescription: `existing blocked evaluation exists for job "J"`,
    },
    { ...BLOCKED, FailedTGAllocs: { case: group } },
  ]);
  const events = await watched(lab({ placementPatienceSec: 1 }));
  expect(failureOf(events)).toMatchObject({
    code: 'PLACEMENT_TIMEOUT',
    message: expect.stringMatching(/\$\{node\.class\} = gpu/),
  });
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

test('N07 no path to a node is asked again, and its output is whole', async () => {
  nomad.allocations([anAllocation()]);
  nomad.stdout = `hello\n${recordText()}`;
  const noPath = text(404, 'No path to node');
  nomad.on(`GET ${LOGS}`, noPath, noPath, (request) => nomad.logs(request));
  const events = await watched(lab());
  expect(printed(events)).toBe('hello\n');
  expect(events.at(-1)).toMatchObject({ kind: 'record' });
});

test('N07 one that stays away is infrastructure, and no collected log', async () => {
  nomad.allocations([anAllocation({ ClientStatus: 'complete', TaskStates: exited(0) })]);
  nomad.on(`GET ${LOGS}`, text(404, 'No path to node'));
  const failure = failureOf(await watched(lab()));
  expect(failure).toMatchObject({
    code: 'CLUSTER_UNREACHABLE',
    message: expect.stringMatching(/exit code 0.*no way to its node/),
  });
  expect(failure).not.toMatchObject({ message: expect.stringContaining('gc_max_allocs') });
}, 40_000);

test.each([
  ['a', 500, 'failed to list entries: open /x/alloc/A/alloc/logs: no such file or directory'],
  ['b', 404, `state for allocation ${ALLOCATION_ID} not found on client`],
  ['c', 404, `Unknown allocation "${ALLOCATION_ID}"`],
])('N01 %s a log that was collected is lost, with the exit code and the way out', async (_variant, status, said) => {
  nomad.allocations([anAllocation({ ClientStatus: 'complete', TaskStates: exited(0) })]);
  nomad.on(`GET ${LOGS}`, text(status, said));
  const events = await watched(lab({ maxConcurrent: 100 }));
  expect(failureOf(events)).toMatchObject({
    code: 'RESULT_LOST',
    message: expect.stringMatching(/exit code 0.*client\.gc_max_allocs.*\b250\b/),
  });
});

const LISTING = `/v1/client/fs/ls/${ALLOCATION_ID}`;
const notesOf = (events: readonly AllocationEvent[]) =>
  events.flatMap((event) => (event.kind === 'placed' ? [event.provenance.log] : []));

test('N05 a log whose size may not be read is told to be unverified, and its record counts', async () => {
  nomad.allocations([anAllocation()]);
  nomad.stdout = `hello\n${recordText()}`;
  expect(notesOf(await watched(lab()))).toEqual([undefined]);
  nomad.allocations([anAllocation()]);
  nomad.on(`GET ${LISTING}`, text(403, 'Permission denied'));
  const events = await watched(lab());
  expect(notesOf(events)).toEqual([undefined, 'unverified']);
  expect(events.at(-1)).toMatchObject({ kind: 'record' });
});

test('N05 a log that came without some of its lines is told anew, whole, before its record', async () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`);
  const [record, whole] = [recordText(), lines.join('')];
  nomad.allocations([anAllocation()]);
  nomad.stdout = lines.toSpliced(500, 120).join('') + record;
  nomad.on(
    `GET ${LOGS}`,
    (request) => nomad.logs(request),
    (request) => {
      nomad.stdout = whole + record;
      return nomad.logs(request);
    },
  );
  const events = await watched(lab());
  const corrected = events.find((event) => event.kind === 'corrected');
  expect(Buffer.concat(corrected?.pieces.map(({ bytes }) => bytes) ?? []).toString() === whole).toBe(true);
  expect([kinds(events).at(-1), notesOf(events)]).toEqual(['record', [undefined]]);
});

test('G67 a record of which some lines are missing counts for nothing until it is whole', async () => {
  const record = recordText();
  const cut = record.split('\n').toSpliced(4, 2).join('\n');
  nomad.allocations([anAllocation({ ClientStatus: 'complete', TaskStates: exited(0) })]);
  const lacking = (request: Parameters<typeof nomad.logs>[0]) => {
    nomad.stdout = `hello\n${cut}`;
    const answer = nomad.logs(request);
    nomad.stdout = `hello\n${record}`;
    return answer;
  };
  nomad.on(`GET ${LOGS}`, lacking, (request) => nomad.logs(request));
  const events = await watched(lab());
  expect(events.at(-1)).toMatchObject({ kind: 'record' });
  expect(kinds(events)).toContain('corrected');

  nomad.on(`GET ${LOGS}`, lacking);
  expect(failureOf(await watched(lab()))).toMatchObject({ code: 'RESULT_LOST' });
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

test('N31 one that was stopped before it ran is no success', async () => {
  nomad.allocations([
    anAllocation({
      ...{ DesiredStatus: 'stop', ClientStatus: 'complete', TaskStates: null },
      DesiredDescription: 'alloc not needed due to job update',
    }),
  ]);
  nomad.on(`GET ${LOGS}`, text(404, 'task "case" not started yet. No logs available'));
  expect(failureOf(await watched(lab()))).toMatchObject({ code: expect.stringMatching(/ALLOCATION_LOST|EVICTED/) });
});

test('D33 a bare 137 with its whole log is the doing of the job', async () => {
  nomad.allocations([anAllocation({ ClientStatus: 'failed', TaskStates: exited(137) })]);
  nomad.stdout = 'partial\n';
  const events = await watched(lab());
  expect(events.at(-1)).toMatchObject({ kind: 'silent', detail: expect.stringContaining('137') });
  expect(printed(events)).toBe('partial\n');
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

test('forged records are output', async () => {
  nomad.allocations([anAllocation()]);
  nomad.stdout = `${recordText(0, 'beef')}${recordText(7)}`;
  const events = await watched(lab());
  expect(events.at(-1)).toMatchObject({ kind: 'record', record: { status: 7 } });
  expect(printed(events)).toBe(recordText(0, 'beef'));
  expect(NONCE).not.toBe('beef');
});
