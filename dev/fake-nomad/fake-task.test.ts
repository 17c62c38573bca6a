import { eventually } from '../../test/eventually.js';
import { aShellJob, nomadCalls } from '../../test/nomad-calls.js';
import { FakeNomad } from './fake-nomad.js';
import type { Allocation, TaskEvent } from './fake-state.js';

let fake: FakeNomad;
let nomad: ReturnType<typeof nomadCalls>;
beforeAll(async () => {
  fake = await FakeNomad.start({ executorMs: 50 });
  nomad = nomadCalls(fake);
});
afterAll(() => fake.stop());

let number = 0;
const isRunning = ({ ClientStatus }: Allocation) => ClientStatus === 'running';
const hasEnded = ({ ClientStatus }: Allocation) => ClientStatus === 'complete' || ClientStatus === 'failed';
const eventsOf = ({ TaskStates }: Allocation): TaskEvent[] => TaskStates?.case?.Events ?? [];
const event = (allocation: Allocation, type: string) => eventsOf(allocation).find(({ Type }) => Type === type);
const output = async ({ ID }: Allocation, stream = 'stdout'): Promise<string> =>
  (await nomad.call('GET', `/v1/client/fs/logs/${ID}?task=case&type=${stream}&plain=true`)).text;

async function started(script: string, task: object = {}, group: object = {}): Promise<string> {
  number += 1;
  const id = `task-${number}`;
  expect((await nomad.register(aShellJob(id, script, task, group))).status).toBe(200);
  return id;
}

const ended = async (script: string, task: object = {}, group: object = {}): Promise<Allocation> =>
  nomad.allocation(await started(script, task, group), hasEnded);

async function running(script: string, task: object = {}): Promise<string> {
  const id = await started(`${script}; echo on; while :; do sleep 0.01; done`, task);
  const allocation = await nomad.allocation(id, isRunning);
  await eventually('its output', async () => (await output(allocation)) === 'on\n');
  return id;
}

test('a normal end, and one by exit code', async () => {
  const good = await ended('echo a; echo b >&2');
  expect(good).toMatchObject({
    ClientStatus: 'complete',
    DesiredStatus: 'run',
    ClientDescription: 'All tasks have completed',
  });
  expect([await output(good), await output(good, 'stderr')]).toEqual(['a\n', 'b\n']);
  expect(eventsOf(good).map(({ Type }) => Type)).toEqual(['Received', 'Task Setup', 'Started', 'Terminated']);
  expect(good.TaskStates?.case).toMatchObject({ State: 'dead', Failed: false, Restarts: 0, LastRestart: null });

  const bad = await ended('exit 3');
  expect(bad).toMatchObject({ ClientStatus: 'failed', DesiredStatus: 'run', ClientDescription: 'Failed tasks' });
  const details = { exit_code: '3', signal: '0', oom_killed: 'false' };
  expect(event(bad, 'Terminated')).toMatchObject({ DisplayMessage: 'Exit Code: 3', Details: details, ExitCode: 3 });
  expect(event(bad, 'Terminated')?.Details).not.toHaveProperty('exit_message');
  expect(event(bad, 'Not Restarting')?.DisplayMessage).toBe('Policy allows no restarts');
});

test.each([
  ['KILL', 137, 9],
  ['SEGV', 139, 11],
])('a task that %s kills ended with %i', async (signal, code, number) => {
  const { Details, DisplayMessage } = event(await ended(`kill -${signal} $$`), 'Terminated') ?? {};
  expect(Details).toMatchObject({ exit_code: String(code), signal: String(number) });
  expect(DisplayMessage).toBe(`Exit Code: ${code}, Signal: ${number}`);
});

test('a stop sends the signal, and kills after the timeout: whatever it ended with, it is complete', async () => {
  const deaf = await running('trap "" INT', { KillTimeout: 100_000_000 });
  await nomad.remove(deaf);
  const killed = await nomad.allocation(deaf, hasEnded);
  expect(killed).toMatchObject({
    ClientStatus: 'complete',
    DesiredStatus: 'stop',
    TaskStates: { case: { Failed: false } },
  });
  expect(eventsOf(killed).slice(-3)).toMatchObject([
    { Type: 'Killing', DisplayMessage: 'Sent interrupt. Waiting 0.1s before force killing' },
    { Type: 'Terminated', DisplayMessage: 'Exit Code: 137, Signal: 9' },
    { Type: 'Killed', DisplayMessage: 'Task successfully killed' },
  ]);
  const polite = await running('trap "echo bye; exit 9" TERM', { KillSignal: 'SIGTERM' });
  await nomad.remove(polite);
  const left = await nomad.allocation(polite, hasEnded);
  expect(left).toMatchObject({ ClientStatus: 'complete', TaskStates: { case: { Failed: false } } });
  expect(event(left, 'Terminated')?.DisplayMessage).toBe('Exit Code: 9');
});

test('a stop before anything ran leaves a complete one that never started', async () => {
  fake.cluster.images.set('slow', { takesMs: 60_000 });
  const id = await started('', { Driver: 'docker', Config: { image: 'slow', command: 'true' } });
  const pending = await nomad.allocation(id, (allocation) => event(allocation, 'Driver') !== undefined);
  expect(pending).toMatchObject({ ClientStatus: 'pending', ClientDescription: 'No tasks have started' });
  expect(event(pending, 'Driver')?.DisplayMessage).toBe('Downloading image');
  expect(await output(pending)).toBe('task "case" not started yet. No logs available');
  await nomad.remove(id);
  const stopped = await nomad.allocation(id, hasEnded);
  expect(stopped).toMatchObject({ ClientStatus: 'complete', TaskStates: { case: { StartedAt: null } } });
});

test.each([
  ['unauthorized: access to the image is denied', 'Policy allows no restarts'],
  ['Error: image r/x:1 not found', 'Error was unrecoverable'],
])('an image that cannot be pulled is a failure with the text of the registry: %s', async (failure, why) => {
  fake.cluster.images.set('r/x:1', { failure });
  const failed = await ended('', { Driver: 'docker', Config: { image: 'r/x:1', command: 'true' } });
  expect(failed).toMatchObject({ ClientStatus: 'failed', TaskStates: { case: { StartedAt: null, Failed: true } } });
  const text = `Failed to pull \`r/x:1\`: ${failure}`;
  expect(event(failed, 'Driver Failure')).toMatchObject({ DisplayMessage: text, Details: { driver_error: text } });
  expect(event(failed, 'Not Restarting')?.DisplayMessage).toBe(why);
});

test('what its document gets wrong keeps a task from starting', async () => {
  const template = (EmbeddedTmpl: string) => ({ Templates: [{ EmbeddedTmpl, DestPath: 'local/x' }] });
  expect(event(await ended('true', template('{{ key "x" }}')), 'Killing')?.DisplayMessage).toMatch(
    /^Template failed: /,
  );
  const args = (arg: string) => ({ Config: { command: '/bin/echo', args: [arg] } });
  for (const arg of [`\${X}`, `\${X:-y}`, '%{ if }']) {
    expect(event(await ended('', args(arg)), 'Failed Validation')).toBeDefined();
  }
  expect(event(await ended('', { Config: { args: ['x'] } }), 'Failed Validation')).toBeDefined();
  const missing = await ended('', { Config: { command: '/no/such/program' } });
  expect(event(missing, 'Driver Failure')?.DisplayMessage).toContain('ENOENT');
  const long = await ended('true', { Env: { LONG: 'x'.repeat(140_000) } });
  expect(event(long, 'Driver Failure')?.DisplayMessage).toContain('E2BIG');
});

test("variables are put in where they are known; escapes and delimiters of one's own are honoured", async () => {
  const allocation = await ended('', {
    Env: { KNOWN: `\${NOMAD_JOB_ID}`, UNKNOWN: `\${X} $Y`, META: `\${NOMAD_META_dollar}{NOMAD_JOB_ID}` },
    Meta: { dollar: '$' },
    Templates: [
      { EmbeddedTmpl: `{{ x }} \${X}`, DestPath: 'secrets/a/b', LeftDelim: '\u0001<', RightDelim: '\u0001>' },
    ],
    Config: {
      command: '/bin/sh',
      args: [
        '-c',
        `echo "$KNOWN|$UNKNOWN|$META|$1|$2"; cat "$NOMAD_SECRETS_DIR/a/b"`,
        '',
        `\${NOMAD_TASK_NAME}`,
        `$\${X} %%{y`,
      ],
    },
  });
  expect(await output(allocation)).toBe(`${allocation.JobID}|\${X} $Y|\${NOMAD_JOB_ID}|case|\${X} %{y\n{{ x }} \${X}`);
});

test('out of memory is marked where the driver is told', async () => {
  const container = { Driver: 'docker', Config: { image: 'x', command: '/bin/sh', args: ['-c', 'echo on; sleep 60'] } };
  const id = await running(':', container);
  fake.cluster.faults.outOfMemory(id, true);
  const { Details } = event(await nomad.allocation(id, hasEnded), 'Terminated') ?? {};
  expect(Details).toMatchObject({ exit_code: '137', oom_killed: 'true', exit_message: 'OOM Killed' });

  const quiet = await running(':');
  fake.cluster.faults.outOfMemory(quiet, false);
  expect(event(await nomad.allocation(quiet, hasEnded), 'Terminated')?.Details.oom_killed).toBe('false');
});

test('a killed executor leaves exit code 0, then a failure, and a process that lives on', async () => {
  const id = await running(':');
  const before = fake.ledger.running;
  fake.cluster.faults.killExecutor(id);
  const told = await nomad.allocation(id, (allocation) => event(allocation, 'Terminated') !== undefined);
  expect(event(told, 'Terminated')).toMatchObject({
    Details: { exit_code: '0', exit_message: expect.stringContaining('code = Unavailable') },
  });
  expect((await nomad.allocation(id, hasEnded)).ClientStatus).toBe('failed');
  expect(fake.ledger.running).toBe(before);
});

test('between two tries a task is pending, and its output is one', async () => {
  const policy = { RestartPolicy: { Attempts: 1, Mode: 'fail', Delay: 200_000_000 } };
  const id = await started('echo once; exit 1', {}, policy);
  const waiting = await nomad.allocation(id, ({ TaskStates }) => TaskStates?.case?.Restarts === 1);
  expect(waiting).toMatchObject({
    ClientStatus: 'pending',
    TaskStates: { case: { State: 'pending', FinishedAt: null } },
  });
  expect(event(waiting, 'Restarting')?.DisplayMessage).toBe('Task restarting in 0.2s');
  const failed = await nomad.allocation(id, hasEnded);
  expect(event(failed, 'Not Restarting')?.DisplayMessage).toBe(
    'Exceeded allowed attempts 1 in interval 24h0m0s and mode is "fail"',
  );
  expect(await output(failed)).toBe('once\nonce\n');
  expect(fake.ledger.starts.get(id)).toBe(2);
});

test('an allocation by itself has its job, and no field that is empty; its stub has all', async () => {
  const { ID, JobID } = await ended('true');
  const [stub] = await nomad.allocations(JobID);
  expect(stub).toMatchObject({ DesiredDescription: '', NextAllocation: '', JobType: 'batch', JobVersion: 0 });
  expect(stub).not.toHaveProperty('Job');
  const { body } = await nomad.call<Record<string, unknown>>('GET', `/v1/allocation/${ID}`);
  expect(body).toMatchObject({ Job: { ID: JobID }, AllocatedResources: { Tasks: { case: {} } } });
  expect(body).not.toHaveProperty('DesiredDescription');
  expect(body).not.toHaveProperty('PreviousAllocation');
});
