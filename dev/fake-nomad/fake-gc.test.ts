import { eventually } from '../../test/eventually.js';
import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { FakeNomad, type FakeNomadOptions } from './fake-nomad.js';
import type { Allocation } from './fake-state.js';

let fake: FakeNomad;
let nomad: ReturnType<typeof nomadCalls>;
const started = async (options: FakeNomadOptions): Promise<void> => {
  fake = await FakeNomad.start(options);
  nomad = nomadCalls(fake);
};
afterEach(() => fake.stop());

const isRunning = ({ ClientStatus }: Allocation) => ClientStatus === 'running';
const isComplete = ({ ClientStatus }: Allocation) => ClientStatus === 'complete';

const logs = async (id: string): Promise<string> => {
  const { status, text } = await nomad.call('GET', `/v1/client/fs/logs/${id}?task=case&type=stdout&plain=true`);
  return `${status} ${text}`;
};
const GONE = (id: string): string =>
  `500 failed to list entries: open ${fake.cluster.root}/${id}/alloc/logs: no such file or directory`;

/** Runs to its end; the id of its allocation. */
async function done(job: string): Promise<string> {
  await nomad.register(aShellJob(job, `echo ${job}`));
  return (await nomad.allocation(job, isComplete)).ID;
}

async function running(job: string): Promise<string> {
  await nomad.register(aShellJob(job, `echo ${job}; exec sleep 60`));
  const { ID } = await nomad.allocation(job, isRunning);
  await eventually('the output', async () => (await logs(ID)) === `200 ${job}\n`);
  return ID;
}

test('before a new one starts, the oldest that ended goes until all fit, running ones counted', async () => {
  await started({ gcMaxAllocs: 3 });
  const [one, two, live] = [await done('one'), await done('two'), await running('live')];
  expect(await logs(one)).toBe('200 one\n');

  await done('four');
  expect([await logs(one), await logs(two), await logs(live)]).toEqual([GONE(one), '200 two\n', '200 live\n']);

  await running('five');
  await running('six');
  await running('seven');
  expect([await logs(two), await logs(live)]).toEqual([GONE(two), '200 live\n']);
});

test('each node counts its own', async () => {
  const small = { cpuMhz: 100, memoryMb: 300 };
  await started({
    gcMaxAllocs: 1,
    machines: [
      { name: 'a', ...small },
      { name: 'b', ...small },
    ],
  });
  const [one, two] = [await running('one'), await running('two')];
  await nomad.remove('one');
  await nomad.allocation('one', isComplete);

  const three = await running('three');
  expect([await logs(one), await logs(two), await logs(three)]).toEqual([GONE(one), '200 two\n', '200 three\n']);
});

test('with gc_max_allocs 0 the logs are gone with the end, and state, events and exit code stay', async () => {
  await started({ gcMaxAllocs: 0 });
  const id = await done('one');

  expect(await logs(id)).toBe(GONE(id));
  const { body } = await nomad.call<Allocation>('GET', `/v1/allocation/${id}`);
  expect(body.TaskStates?.case?.Events.map(({ Type, ExitCode }) => [Type, ExitCode])).toContainEqual(['Terminated', 0]);
});

test('a collection of the client takes what has ended, and nothing that runs', async () => {
  await started({});
  const [one, two, live] = [await done('one'), await done('two'), await running('live')];

  expect(await nomad.call('GET', `/v1/client/allocation/${one}/gc`)).toMatchObject({ status: 200, text: '' });
  expect([await logs(one), await logs(two)]).toEqual([GONE(one), '200 two\n']);
  expect(await nomad.call('GET', '/v1/client/gc')).toMatchObject({ status: 200, text: '' });
  expect([await logs(two), await logs(live)]).toEqual([GONE(two), '200 live\n']);
  expect((await nomad.call('GET', `/v1/client/allocation/${live}/gc`)).status).toBe(501);
});

test('a collection of the servers forgets dead jobs at once, and leaves the evaluation of their end', async () => {
  await started({});
  const [one, live] = [await done('one'), await running('live')];
  await nomad.remove('one');
  await eventually('its end', async () =>
    (await nomad.evaluations('one')).every(({ Status }) => Status === 'complete'),
  );

  await nomad.call('PUT', '/v1/system/gc');
  expect(await nomad.job('one')).toMatchObject({ status: 404, text: 'job not found' });
  expect(await nomad.call('GET', `/v1/allocation/${one}`)).toMatchObject({ status: 404, text: 'alloc not found' });
  expect(await nomad.allocations('one')).toEqual([]);
  expect(await logs(one)).toBe(`404 Unknown allocation "${one}"`);
  expect(await nomad.evaluations('one')).toEqual([
    expect.objectContaining({ TriggeredBy: 'job-deregister', Status: 'complete' }),
  ]);
  expect(await logs(live)).toBe('200 live\n');

  await nomad.call('PUT', '/v1/system/gc');
  expect(await nomad.evaluations('one')).toEqual([]);
});

test('a job that is stopped while it runs is kept until it has ended', async () => {
  await started({});
  const script = 'trap "" INT; echo on; sleep 60';
  await nomad.register(aShellJob('slow', script, { KillTimeout: 500_000_000 }));
  const { ID: id } = await nomad.allocation('slow', isRunning);
  await eventually('the output', async () => (await logs(id)) === '200 on\n');
  await nomad.remove('slow');
  await nomad.call('PUT', '/v1/system/gc');
  expect((await nomad.allocations('slow')).map(({ ID }) => ID)).toEqual([id]);
  await nomad.allocation('slow', isComplete);
});

test('N03 a purged job keeps its allocation and its logs until the servers collect', async () => {
  await started({});
  const id = await running('purged');
  await nomad.call('DELETE', '/v1/job/purged?purge=true');
  await nomad.allocation('purged', isComplete);
  expect([(await nomad.job('purged')).status, await logs(id)]).toEqual([404, '200 purged\n']);
  expect((await nomad.call('GET', `/v1/allocation/${id}`)).status).toBe(200);

  await nomad.call('PUT', '/v1/system/gc');
  expect(await logs(id)).toBe(`404 Unknown allocation "${id}"`);
  expect(await nomad.evaluations('purged')).toEqual([]);
});

test('what is collected at random is collected in the end', async () => {
  await started({ randomGc: { everyMs: 5 }, seed: 5 });
  const ids = [await running('one'), await running('two')];
  await Promise.all([nomad.remove('one'), nomad.remove('two')]);

  await eventually('collections', async () =>
    (await Promise.all(ids.map(logs))).every((text) => !text.startsWith('200')),
  );
});
