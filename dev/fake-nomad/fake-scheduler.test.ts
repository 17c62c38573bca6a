import { eventually } from '../../test/eventually.js';
import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { FakeNomad, type FakeNomadOptions } from './fake-nomad.js';
import type { Evaluation } from './fake-state.js';

let fake: FakeNomad;
let nomad: ReturnType<typeof nomadCalls>;
const started = async (options: FakeNomadOptions): Promise<void> => {
  fake = await FakeNomad.start(options);
  nomad = nomadCalls(fake);
};
afterEach(() => fake.stop());

const SLEEP = 'exec sleep 60';
const RACK = { name: 'rack-1', cpuMhz: 5_192, memoryMb: 24_105, diskMb: 75_718 };

/** The evaluation of a registration, worked off. */
async function evaluated(job: { ID: string }): Promise<Evaluation> {
  const { EvalID } = (await nomad.register(job)).body;
  return eventually('the evaluation', async () => {
    const { body } = await nomad.call<Evaluation>('GET', `/v1/evaluation/${EvalID}`);
    return body.Status !== 'pending' && body;
  });
}

const nowhere = {
  NodesEvaluated: 0,
  NodesInPool: 0,
  NodesAvailable: {},
  ConstraintFiltered: null,
  DimensionExhausted: null,
};
const filteredBy = (what: string) => ({ ConstraintFiltered: { [what]: 1 }, NodesFiltered: 1, NodesExhausted: 0 });
const exhausted = (dimension: string) => ({
  DimensionExhausted: { [dimension]: 1 },
  NodesExhausted: 1,
  NodesFiltered: 0,
});
const constrained = (LTarget: string, RTarget: string) => ({ Constraints: [{ LTarget, Operand: '=', RTarget }] });

test.each<[string, object, object, object, object]>([
  ['memory', {}, { Resources: { MemoryMB: 50_000 } }, {}, exhausted('memory')],
  ['CPU', {}, { Resources: { CPU: 6_000 } }, {}, exhausted('cpu')],
  ['cores', {}, { Resources: { Cores: 3 } }, {}, exhausted('cores')],
  ['disk', {}, {}, { EphemeralDisk: { SizeMB: 80_000 } }, exhausted('disk')],
  ['a datacenter', { Datacenters: ['nowhere'] }, {}, {}, nowhere],
  ['an empty pool', { NodePool: 'gpu' }, {}, {}, nowhere],
  ['a class', constrained(`\${node.class}`, 'gpu'), {}, {}, filteredBy(`\${node.class} = gpu`)],
  ['a kernel', {}, {}, constrained(`\${attr.kernel.name}`, 'windows'), filteredBy(`\${attr.kernel.name} = windows`)],
  ['a device', {}, { Resources: { Devices: [{ Name: 'nvidia/gpu', Count: 1 }] } }, {}, filteredBy('missing devices')],
  ['a driver', {}, { Driver: 'docker', Config: { image: 'x' } }, {}, filteredBy('missing drivers')],
])('a job that asks for %s of which there is not enough waits, and its evaluation says why', async (...args) => {
  const [, job, task, group, metrics] = args;
  await started({ machines: [{ ...RACK, drivers: ['raw_exec'] }], nodePools: ['default', 'gpu'] });
  const evaluation = await evaluated({ ...aShellJob('m1', SLEEP, task, group), ...job });
  expect(evaluation).toMatchObject({
    ...{ Status: 'complete', TriggeredBy: 'job-register', QueuedAllocations: { case: 1 } },
    FailedTGAllocs: { case: { CoalescedFailures: 0, QuotaExhausted: null, Scores: null, ...metrics } },
  });
  expect(evaluation).not.toHaveProperty('StatusDescription');
  const blocked = await nomad.call<Evaluation>('GET', `/v1/evaluation/${evaluation.BlockedEval}`);
  expect(blocked.body).toMatchObject({
    ...{ Status: 'blocked', TriggeredBy: 'queued-allocs', PreviousEval: evaluation.ID },
    ...{ StatusDescription: 'created to place remaining allocations', FailedTGAllocs: { case: metrics } },
  });
  expect(blocked.body).not.toHaveProperty('QueuedAllocations');
  expect((await nomad.job('m1')).body.Status).toBe('pending');
  expect(await nomad.allocations('m1')).toEqual([]);
});

test('what waits is placed when there is room, by the evaluation that was blocked; the first keeps what it said', async () => {
  await started({ machines: [{ ...RACK, memoryMb: 500 }] });
  await evaluated(aShellJob('first', SLEEP));
  const register = await evaluated(aShellJob('second', SLEEP));
  await nomad.remove('first');
  const { EvalID } = await nomad.allocation('second', ({ ClientStatus }) => ClientStatus === 'running');
  expect(EvalID).toBe(register.BlockedEval);

  const after = await nomad.evaluations('second');
  expect(after.find(({ ID }) => ID === register.ID)).toEqual(register);
  const unblocked = after.find(({ ID }) => ID === EvalID);
  expect(unblocked).toMatchObject({ Status: 'complete', QueuedAllocations: { case: 0 } });
  expect(unblocked).not.toHaveProperty('FailedTGAllocs');
  expect((await nomad.job('second')).body.Status).toBe('running');
});

test('registered again it waits by another evaluation; the older one, and that of a stopped job, are canceled', async () => {
  await started({ machines: [] });
  const job = aShellJob('m3', SLEEP);
  const older = await evaluated(job);
  const newer = await evaluated(job);
  const find = async (id: string | undefined) => (await nomad.evaluations('m3')).find(({ ID }) => ID === id);
  expect(await find(older.BlockedEval)).toMatchObject({
    ...{ Status: 'canceled', StatusDescription: 'existing blocked evaluation exists for job "m3"' },
  });
  expect(await find(newer.BlockedEval)).toMatchObject({ Status: 'blocked' });

  const { EvalID } = (await nomad.remove('m3')).body;
  const canceled = await eventually('it', async () => {
    const found = await find(newer.BlockedEval);
    return found?.Status === 'canceled' && found;
  });
  expect(canceled.StatusDescription).toBe(`evaluation "${EvalID}" successful`);
});

test('the node with the most room is taken, and each GPU is given once', async () => {
  const gpu = { Resources: { CPU: 100, MemoryMB: 1_000, Devices: [{ Name: 'nvidia/gpu', Count: 1 }] } };
  await started({ machines: [RACK, { ...RACK, name: 'rack-2', memoryMb: 30_000, gpus: 2 }] });
  await Promise.all(['a', 'b', 'c'].map((name) => evaluated(aShellJob(name, SLEEP, gpu))));
  const one = async (name: string) => (await nomad.allocations(name))[0];
  expect([(await one('a'))?.NodeName, (await one('b'))?.NodeName, await one('c')]).toEqual([
    'rack-2',
    'rack-2',
    undefined,
  ]);
  const [waiting] = await nomad.evaluations('c');
  expect(waiting?.FailedTGAllocs?.case).toMatchObject({
    ...{ DimensionExhausted: { 'devices: no devices match request': 1 }, ConstraintFiltered: { 'missing devices': 1 } },
  });
  await evaluated(aShellJob('d', SLEEP));
  expect((await one('d'))?.NodeName).toBe('rack-2');
});
