import { connect } from 'node:net';
import { eventually } from '../../test/eventually.js';
import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { FakeNomad, type FakeNomadOptions } from './fake-nomad.js';
import type { Allocation } from './fake-state.js';

let fake: FakeNomad;
let nomad: ReturnType<typeof nomadCalls>;
const started = async (options: FakeNomadOptions = {}): Promise<void> => {
  fake = await FakeNomad.start(options);
  nomad = nomadCalls(fake);
};
afterEach(() => fake.stop());

const ONE = [{ name: 'rack-1', memoryMb: 500 }];
const TWO = [
  { name: 'rack-1', memoryMb: 500 },
  { name: 'rack-2', memoryMb: 400 },
];
const isRunning = ({ ClientStatus }: Allocation) => ClientStatus === 'running';
const isComplete = ({ ClientStatus }: Allocation) => ClientStatus === 'complete';
const logs = async (id: string) =>
  nomad
    .call('GET', `/v1/client/fs/logs/${id}?task=case&type=stdout&plain=true`)
    .then(({ status, text }) => `${status} ${text}`);

async function running(job: string, group: object = {}): Promise<Allocation> {
  await nomad.register(aShellJob(job, 'exec sleep 60', {}, group));
  return nomad.allocation(job, isRunning);
}
const settled = (job: string) =>
  eventually('evaluations', async () => (await nomad.evaluations(job)).every(({ Status }) => Status !== 'pending'));

test('N19 of a lost node: nothing is told before it is noticed; lost becomes complete when the client is back', async () => {
  await started({ machines: ONE });
  const { ID } = await running('lost');
  const noticed = fake.cluster.faults.loseNode('rack-1', 100);
  expect(await logs(ID)).toBe('404 No path to node');
  expect((await nomad.allocations('lost'))[0]).toMatchObject({ ClientStatus: 'running', DesiredStatus: 'run' });

  await noticed;
  expect((await nomad.allocations('lost'))[0]).toMatchObject({
    ...{ ClientStatus: 'lost', DesiredStatus: 'stop', TaskStates: { case: { State: 'running' } } },
    DesiredDescription: 'alloc is lost since its node is down',
  });
  await settled('lost');
  expect((await nomad.job('lost')).body.Status).toBe('pending');
  expect(fake.ledger.running).toBe(1);

  await fake.cluster.faults.returnNode('rack-1');
  const both = await eventually('both', async () => {
    const all = await nomad.allocations('lost');
    return all[0]?.ClientStatus === 'complete' && all[1]?.ClientStatus === 'running' && all;
  });
  expect(both[0]).toMatchObject({
    ID,
    DesiredStatus: 'stop',
    NextAllocation: both[1]?.ID,
    TaskStates: { case: { Failed: false } },
  });
  expect(fake.ledger.starts.get('lost')).toBe(2);
});

test('a lost one is replaced at once where there is room elsewhere, so that two run', async () => {
  await started({ machines: TWO });
  await running('twice');
  await fake.cluster.faults.loseNode('rack-1');
  await eventually('two', async () => (await nomad.allocations('twice'))[1]?.ClientStatus === 'running');
  expect(fake.ledger.peakRunning).toBe(2);
});

test('before 1.8 a replacement can be put off; since then it can be turned off, and the old one goes on', async () => {
  await started({ machines: TWO });
  await running('later', { StopAfterClientDisconnect: 604_800_000_000_000 });
  await fake.cluster.faults.loseNode('rack-1');
  expect((await nomad.allocations('later')).map(({ ClientStatus }) => ClientStatus)).toEqual(['lost']);
  expect((await nomad.evaluations('later')).find(({ Status }) => Status === 'pending')).toMatchObject({
    ...{ TriggeredBy: 'alloc-failure', StatusDescription: 'created for delayed rescheduling' },
  });
  await fake.stop();

  await started({ machines: TWO, version: '1.8.0' });
  const { ID } = await running('never', { Disconnect: { Replace: false } });
  await fake.cluster.faults.loseNode('rack-1');
  await settled('never');
  expect(await nomad.allocations('never')).toMatchObject([{ ID, ClientStatus: 'unknown', DesiredStatus: 'run' }]);
  await fake.cluster.faults.returnNode('rack-1');
  expect(await nomad.allocations('never')).toMatchObject([{ ID, ClientStatus: 'running' }]);
  expect(fake.ledger.starts.get('never')).toBe(1);
});

test('a drain counts as an end: complete, never run again, also on a node that is eligible again', async () => {
  await started({ machines: ONE });
  await running('drained');
  fake.cluster.faults.drain('rack-1');
  const drained = await nomad.allocation('drained', isComplete);
  expect(drained).toMatchObject({
    ...{
      DesiredStatus: 'stop',
      DesiredDescription: 'alloc is being migrated',
      TaskStates: { case: { Failed: false } },
    },
  });
  expect((await nomad.job('drained')).body).toMatchObject({ Status: 'dead', Stop: false });
  fake.cluster.faults.setEligible('rack-1', true);
  await nomad.register(aShellJob('drained', 'exec sleep 60'));
  await settled('drained');
  expect(await nomad.allocations('drained')).toHaveLength(1);
});

test('what is stopped by itself, or makes way, is replaced', async () => {
  await started();
  const { ID } = await running('stopped');
  expect((await nomad.call('PUT', `/v1/allocation/${ID}/stop`)).status).toBe(200);
  await eventually('two', async () => (await nomad.allocations('stopped'))[1]?.ClientStatus === 'running');
  expect((await nomad.allocations('stopped'))[0]?.DesiredDescription).toBe('alloc is being migrated');

  await running('weak');
  fake.cluster.faults.preempt('weak');
  await eventually('two', async () => (await nomad.allocations('weak'))[1]?.ClientStatus === 'running');
  expect((await nomad.allocations('weak'))[0]).toMatchObject({
    ...{ DesiredStatus: 'evict', DesiredDescription: expect.stringMatching(/^Preempted by alloc ID /) },
  });
});

test('an agent that is down refuses or does not answer, and what ran goes on', async () => {
  await started();
  await running('on');
  const { url } = fake;
  await fake.pause();
  await expect(nomad.job('on')).rejects.toThrow();
  await fake.resume();
  expect((await nomad.job('on')).body.Status).toBe('running');
  expect([fake.url, fake.ledger.running]).toEqual([url, 1]);

  await fake.pause('hang');
  await expect(fetch(`${url}/v1/job/on`, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
  await fake.resume();
  expect((await nomad.job('on')).status).toBe(200);

  fake.isLeaderless = true;
  expect(await nomad.job('on')).toMatchObject({ status: 500, text: 'No cluster leader' });
  expect((await nomad.call('GET', '/v1/agent/health')).status).toBe(200);
});

test('N29 the connection above the limit is answered before it has asked', async () => {
  await started({ connectionLimit: 1 });
  const first = connect(fake.port, '127.0.0.1');
  await eventually('the first', async () => fake.connections === 1);
  const second = connect(fake.port, '127.0.0.1').setEncoding('utf8');
  let text = '';
  for await (const chunk of second) text += chunk;
  expect(text).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\nContent-Type: text\/plain\r\n/);
  expect(text).toMatch(/\r\n\r\nYour IP is issuing too many concurrent connections, please rate limit your calls\n$/);
  first.destroy();
  expect(fake.ledger.peakConnections).toBe(2);
});
