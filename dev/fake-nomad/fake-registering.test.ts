import { eventually } from '../../test/eventually.js';
import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { FakeNomad } from './fake-nomad.js';
import type { Allocation } from './fake-state.js';

let fake: FakeNomad;
let nomad: ReturnType<typeof nomadCalls>;
beforeAll(async () => {
  fake = await FakeNomad.start();
  nomad = nomadCalls(fake);
});
afterEach(() => expect(fake.unknown.splice(0)).toEqual([]));
afterAll(() => fake.stop());

const SLEEP = 'exec sleep 60';
const isRunning = ({ ClientStatus }: Allocation) => ClientStatus === 'running';
const hasEnded = ({ ClientStatus }: Allocation) => ClientStatus === 'complete' || ClientStatus === 'failed';
const conditionally = (job: object, index: number) =>
  nomad.register(job, { EnforceIndex: true, JobModifyIndex: index });
const processed = (job: string) =>
  eventually('evaluations', async () => (await nomad.evaluations(job)).every(({ Status }) => Status !== 'pending'));
const one = (text: string) => `1 error occurred:\n\t* ${text}\n\n`;
const inTask = (text: string) =>
  one(
    `Task group case validation failed: 1 error occurred:\n\t* Task case validation failed: 1 error occurred:\n\t* ${text}`,
  );

test.each<[string, object | undefined, number, string]>([
  ['no job', undefined, 400, 'Job must be specified'],
  ['no id', { Type: 'batch' }, 400, "Job ID hasn't been provided"],
  ['a bare job', { ID: 'x', Type: 'batch' }, 500, one('Missing job task groups')],
  ['a space', aShellJob('a b', SLEEP), 500, one('Job ID contains a space')],
  [
    'too little memory',
    aShellJob('x', SLEEP, { Resources: { MemoryMB: 1 } }),
    500,
    inTask('minimum MemoryMB value is 10; got 1'),
  ],
  [
    'logs above the disk',
    aShellJob('x', SLEEP, { LogConfig: { MaxFiles: 10, MaxFileSizeMB: 10 } }, { EphemeralDisk: { SizeMB: 20 } }),
    500,
    inTask('log storage (100 MB) must be less than requested disk capacity (20 MB)'),
  ],
  [
    'a slash',
    aShellJob('x', SLEEP, { Name: 'a/b' }),
    500,
    inTask('Task name cannot include slashes').replace('Task case', 'Task a/b'),
  ],
  ['a pool', { ...aShellJob('m8', SLEEP), NodePool: 'gp' }, 500, one('job "m8" is in nonexistent node pool "gp"')],
  ['a namespace', { ...aShellJob('x', SLEEP), Namespace: 'no' }, 500, one('job "x" is in nonexistent namespace "no"')],
])('a registration with %s is answered in the words of Nomad', async (_what, job, status, text) => {
  const reply = await nomad.call('PUT', '/v1/jobs', job === undefined ? {} : { Job: job });
  expect(reply.status).toBe(status);
  if (status !== 200) expect(reply.text).toBe(text);
});

test('a field that is not known is refused and kept', async () => {
  const { status, text } = await nomad.register({ ...aShellJob('slip', SLEEP), Priorty: 1 });
  expect([status, text]).toEqual([501, expect.stringContaining('Priorty')]);
  expect((await nomad.call('GET', '/v1/job/slip/versions')).status).toBe(501);
  expect(fake.unknown.splice(0)).toEqual(['PUT /v1/jobs', 'GET /v1/job/slip/versions']);
});

test('an index that is enforced lets one of many in', async () => {
  expect(await conditionally(aShellJob('index', SLEEP), 7)).toMatchObject({
    ...{ status: 500, text: 'Enforcing job modify index 7: job does not exist' },
  });
  const all = await Promise.all(Array.from({ length: 4 }, () => conditionally(aShellJob('index', SLEEP), 0)));
  expect(all.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 500, 500, 500]);
  expect(all.find(({ status }) => status === 500)?.text).toBe('Enforcing job modify index 0: job already exists');
  const [taken] = all.filter(({ status }) => status === 200);
  const index = taken?.body.JobModifyIndex ?? 0;
  expect((await conditionally(aShellJob('index', SLEEP), 7)).text).toBe(
    `Enforcing job modify index 7: job exists with conflicting job modify index: ${index}`,
  );
  expect((await conditionally(aShellJob('index', SLEEP), index)).body.JobModifyIndex).toBe(index);

  await nomad.allocation('index', isRunning);
  await nomad.remove('index');
  expect((await conditionally(aShellJob('index', SLEEP), 0)).text).toMatch(/job already exists$/);
  expect(fake.ledger.registrations.get('index')).toBe(2);
});

test.each([
  ['running', SLEEP, isRunning],
  ['complete', 'exit 0', hasEnded],
  ['failed', 'exit 1', hasEnded],
])('the same spec again starts nothing where the first is %s', async (name, script, isSo) => {
  const job = aShellJob(`again-${name}`, script);
  const first = await nomad.register(job);
  const { ID } = await nomad.allocation(job.ID, isSo);
  const second = await nomad.register(job);
  expect(second.body.JobModifyIndex).toBe(first.body.JobModifyIndex);
  expect(second.body.EvalID).not.toBe(first.body.EvalID);
  await processed(job.ID);
  expect((await nomad.allocations(job.ID)).map((each) => each.ID)).toEqual([ID]);
});

test('the same spec after a stop, and another after the end, run again', async () => {
  const job = aShellJob('twice', 'exit 0');
  await nomad.register(job);
  await nomad.allocation('twice', hasEnded);
  await nomad.remove('twice');
  await nomad.register(job);
  await eventually('two', async () => (await nomad.allocations('twice')).length === 2);
  await nomad.register({ ...job, Meta: { x: 'y' } });
  await eventually('three', async () => (await nomad.allocations('twice')).length === 3);
  expect(fake.ledger.registrations.get('twice')).toBe(3);
});

test('another spec while it runs is started beside the first, which is stopped', async () => {
  await nomad.register(aShellJob('other', SLEEP));
  await nomad.allocation('other', isRunning);
  await nomad.register({ ...aShellJob('other', SLEEP), Meta: { x: 'y' } });
  await eventually('the end of the first', async () => {
    const [first, second] = await nomad.allocations('other');
    return second && first?.ClientStatus === 'complete' && first;
  });
  expect((await nomad.allocations('other'))[0]).toMatchObject({
    ...{ DesiredStatus: 'stop', DesiredDescription: 'alloc is being updated due to job update' },
  });
});

test('a purge forgets the job at once: of the same name two may live', async () => {
  const job = aShellJob('purged', 'trap "" INT; echo on; sleep 60', { KillTimeout: 500_000_000 });
  await nomad.register(job);
  const { ID } = await nomad.allocation('purged', isRunning);
  await nomad.call('DELETE', '/v1/job/purged?purge=true');
  expect((await nomad.job('purged')).status).toBe(404);
  expect((await conditionally(job, 0)).status).toBe(200);
  const two = await eventually('two', async () => {
    const all = await nomad.allocations('purged');
    return all.length === 2 && all;
  });
  expect(two.map(({ DesiredStatus }) => DesiredStatus)).toEqual(['stop', 'run']);
  const { body } = await nomad.call<Allocation[]>('GET', '/v1/job/purged/allocations');
  expect(body.map((each) => each.ID)).not.toContain(ID);
  expect(fake.ledger.purges).toEqual(['purged']);
  const evaluations = await nomad.evaluations('purged');
  expect(evaluations.find(({ TriggeredBy }) => TriggeredBy === 'job-deregister')?.Type).toBe('service');
});

test('stopping what nobody knows, and what is stopped already, succeeds', async () => {
  expect((await nomad.remove('never')).body).toMatchObject({
    EvalID: '',
    EvalCreateIndex: 0,
    JobModifyIndex: 0,
    Index: 0,
  });
  await nomad.register(aShellJob('stopped', SLEEP));
  const { body: first } = await nomad.remove('stopped');
  expect((await nomad.job('stopped')).body).toMatchObject({ Status: 'dead', Stop: true, Version: 1 });
  const { body: second } = await nomad.remove('stopped');
  expect(second.EvalID).not.toBe(first.EvalID);
  expect((await nomad.job('stopped')).body.Version).toBe(2);
  expect((await nomad.call('DELETE', '/v1/job/stopped?purge=perhaps')).text).toMatch(
    /^Failed to parse value of "purge" \(perhaps\) as a bool/,
  );
});

test('what is not there has an answer of its own', async () => {
  const nobody = '00000000-0000-0000-0000-000000000000';
  const answers = await Promise.all(
    [
      ...['/v1/job/none', '/v1/job/none/allocations', '/v1/job/none/evaluations'],
      ...[`/v1/evaluation/${nobody}`, '/v1/evaluation/short', `/v1/allocation/${nobody}`, '/v1/allocation/short'],
    ].map((path) => nomad.call('GET', path)),
  );
  expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual([
    '404 job not found',
    '200 []',
    '200 []',
    '404 eval not found',
    '500 failed to lookup eval: eval lookup failed: index error: UUID must be 36 characters',
    '404 alloc not found',
    '500 alloc lookup failed: index error: UUID must be 36 characters',
  ]);
  expect((await nomad.call('PUT', `/v1/allocation/${nobody}/stop`)).text).toBe('allocation not found');
  expect((await nomad.call('DELETE', '/v1/jobs')).status).toBe(405);
  expect((await nomad.call('GET', '/v1/jobs?region=nope')).text).toBe('No path to region');
});

test('jobs are listed by prefix, with their meta where that is asked for, page by page', async () => {
  for (const name of ['list-a', 'list-b', 'list-c'])
    await nomad.register({ ...aShellJob(name, 'exit 0'), Meta: { name } });
  const whole = await nomad.call<{ ID: string; Meta?: object }[]>('GET', '/v1/jobs?prefix=list-&meta=true');
  expect(whole.body.map(({ ID, Meta }) => [ID, Meta])).toEqual(
    ['list-a', 'list-b', 'list-c'].map((name) => [name, { name }]),
  );
  const first = await fetch(`${fake.url}/v1/jobs?prefix=list-&per_page=2`);
  const next = first.headers.get('x-nomad-nexttoken') ?? '';
  expect((await first.json()) as object[]).toHaveLength(2);
  const rest = await nomad.call<object[]>('GET', `/v1/jobs?prefix=list-&per_page=2&next_token=${next}`);
  expect(rest.body).toEqual([expect.not.objectContaining({ Meta: expect.anything() })]);
});

test('a blocking query answers with the change, or when its wait is over', async () => {
  await nomad.register(aShellJob('watched', SLEEP));
  const { ID } = await nomad.allocation('watched', isRunning);
  const seen = await nomad.call('GET', `/v1/allocation/${ID}`);
  const waited = await nomad.call('GET', `/v1/allocation/${ID}?index=${seen.index}&wait=30ms`);
  expect(waited).toMatchObject({ status: 200, index: seen.index });

  const next = nomad.call<Allocation>('GET', `/v1/allocation/${ID}?index=${seen.index}&wait=30s`);
  await nomad.remove('watched');
  expect(await next).toMatchObject({ body: { DesiredStatus: 'stop' } });
  expect((await next).index).toBeGreaterThan(seen.index);
  expect((await nomad.call('GET', '/v1/jobs?index=x')).text).toBe('Invalid index');
  expect((await nomad.call('GET', '/v1/job/watched?index=1&wait=x')).text).toBe('Invalid wait time');
});

test('a list answers with the index of its table, so that another job lets it answer unchanged', async () => {
  await nomad.register(aShellJob('quiet', SLEEP));
  await nomad.allocation('quiet', isRunning);
  const { index } = await nomad.call('GET', '/v1/job/quiet/allocations');
  await nomad.register(aShellJob('loud', 'exit 0'));
  await nomad.allocation('loud', hasEnded);
  const unchanged = await nomad.call<Allocation[]>('GET', `/v1/job/quiet/allocations?index=${index}&wait=30s`);
  expect(unchanged.index).toBeGreaterThan(index);
  expect(unchanged.body).toMatchObject([{ ClientStatus: 'running' }]);
});
