import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
afterAll(() => fake.stop());

const isRunning = ({ ClientStatus }: Allocation) => ClientStatus === 'running';
const isComplete = ({ ClientStatus }: Allocation) => ClientStatus === 'complete';

test('a job is placed, runs with its files and variables, is stopped, and has then ended as complete', async () => {
  const job = aShellJob('one', `echo "$NAME"; cat "\${NOMAD_TASK_DIR}/hello"; exec sleep 60`, {
    Env: { NAME: `the \${NOMAD_JOB_ID} \${else}` },
    Templates: [{ EmbeddedTmpl: `hello \${X}\n`, DestPath: 'local/hello', ChangeMode: 'noop', Perms: '0644' }],
  });
  const registered = await nomad.register(job, { EnforceIndex: true, JobModifyIndex: 0 });
  expect(registered.body).toMatchObject({ EvalID: expect.stringMatching(/^.{36}$/), Warnings: '' });

  const { ID } = await nomad.allocation('one', isRunning);
  const stdout = join(fake.cluster.root, ID, 'alloc/logs/case.stdout.0');
  await eventually('the output', async () => (await readFile(stdout, 'utf8')) === `the one \${else}\nhello \${X}\n`);
  expect((await nomad.job('one')).body.Status).toBe('running');

  expect((await nomad.remove('one')).body.EvalID).not.toBe('');
  const ended = await nomad.allocation('one', isComplete);
  expect(ended).toMatchObject({
    DesiredStatus: 'stop',
    DesiredDescription: 'alloc not needed due to job update',
    TaskStates: { case: { State: 'dead', Failed: false } },
  });
  expect(ended.TaskStates?.case?.Events.map(({ Type }) => Type)).toEqual([
    ...['Received', 'Task Setup', 'Started', 'Killing', 'Terminated', 'Killed'],
  ]);
  expect((await nomad.job('one')).body).toMatchObject({ Status: 'dead', Stop: true });
  expect(fake.unknown).toEqual([]);
});
