import { aLab, type Lab, REF } from '../../test/nomad-jobs.js';
import {
  anAllocation,
  exited,
  JOB_META,
  JOB_NAME,
  type Scripted,
  ScriptedNomad,
  text,
} from '../../test/scripted-nomad.js';

let nomad: ScriptedNomad;
let lab: Lab;
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
  lab = aLab(nomad.url);
});
beforeEach(() => {
  nomad.reset().on(`DELETE /v1/job/${JOB_NAME}`, DELETED);
});
afterEach(() => {
  expect(nomad.requests.some(({ query }) => query.has('purge'))).toBe(false);
});
afterAll(async () => {
  await lab.client.close();
  await nomad.stop();
});

const DELETED: Scripted = { body: { EvalID: 'e9', JobModifyIndex: 9 } };
const ended = anAllocation({ ClientStatus: 'complete', DesiredStatus: 'stop', TaskStates: exited(0) });
const deletes = (): number => nomad.seen('DELETE').length;

test('D35 a job that lives is deregistered without purge, and read back until nothing of it runs', async () => {
  nomad.allocations([anAllocation()], [anAllocation({ ClientStatus: 'unknown' })], [ended]);
  await lab.backend.stop(REF);
  const looks = nomad.seen('GET', /allocations$/);
  expect([deletes(), looks.length, looks.every(({ query }) => query.get('all') === 'true')]).toEqual([1, 3, true]);
});

test.each([
  ['dead', { Status: 'dead' }],
  ['dead and stopped', { Status: 'dead', Stop: true }],
])('D35 one that is %s is left to Nomad', async (_title, parts) => {
  nomad.job(parts).allocations([ended]);
  await lab.backend.stop(REF);
  expect(deletes()).toBe(0);
});

test.each([
  ['waits to be evaluated', { Status: 'pending', WaitUntil: '2026-01-02T00:00:00Z' }, 1],
  ['found no place yet', { Status: 'blocked' }, 1],
  ['is done', { Status: 'complete' }, 0],
])('a dead job whose allocation was lost and whose replacement %s', async (_title, evaluation, made) => {
  const lost = anAllocation({ ClientStatus: 'lost', DesiredStatus: 'stop' });
  nomad
    .job({ Status: 'dead' })
    .allocations([lost])
    .evaluations([{ ID: 'e2', TriggeredBy: 'max-disconnect-timeout', ...evaluation }]);
  await lab.backend.stop(REF);
  expect(deletes()).toBe(made);
});

test('one that was deregistered, and still ends, is waited for; one that is dead and runs all the same is ended', async () => {
  nomad.job({ Status: 'dead', Stop: true }).allocations([anAllocation()], [ended]);
  await lab.backend.stop(REF);
  expect(deletes()).toBe(0);
  nomad.job({ Status: 'dead' }).allocations([anAllocation()], [ended]);
  await lab.backend.stop(REF);
  expect(deletes()).toBe(1);
});

test('one that is dead until its replacement is due is ended', async () => {
  nomad.job({ Status: 'dead' }).allocations([anAllocation({ ClientStatus: 'lost' })]);
  nomad.evaluations([{ ID: 'e4', Status: 'pending', TriggeredBy: 'alloc-failure', CreateIndex: 9 }]);
  await lab.backend.stop(REF);
  expect(deletes()).toBe(1);
});

test('one that never existed is no error, and one of somebody else is left alone', async () => {
  nomad.on(`GET /v1/job/${JOB_NAME}`, text(404, 'job not found'));
  await lab.backend.stop(REF);
  nomad.job({ Meta: { ...JOB_META, deployment: 'other' } }).allocations([anAllocation()]);
  await lab.backend.stop(REF);
  expect(deletes()).toBe(0);
});

test('a job that is gone already answers with no evaluation, which is as good', async () => {
  nomad.on(`DELETE /v1/job/${JOB_NAME}`, { body: { EvalID: '', JobModifyIndex: 0 } });
  await lab.backend.stop(REF);
  expect(deletes()).toBe(1);
});

test('what passes is tried again: a cut, no leader, too many connections', async () => {
  nomad.on(
    `DELETE /v1/job/${JOB_NAME}`,
    'rst',
    text(500, 'No cluster leader'),
    text(429, 'Your IP is issuing too many'),
    DELETED,
  );
  await lab.backend.stop(REF);
  expect(deletes()).toBe(4);
});

test('a read that fails confirms nothing', async () => {
  nomad.on(`GET /v1/job/${JOB_NAME}`, text(403, 'Permission denied'));
  await expect(lab.backend.stop(REF)).rejects.toMatchObject({ reason: 'auth' });
  expect(deletes()).toBe(0);
});

test('what is left of a job is named, however much it is', async () => {
  const live = Array.from({ length: 2_000 }, (_, at) => anAllocation({ ID: `a${at}` }));
  const denied = text(403, 'Permission denied');
  nomad.on(`GET /v1/job/${JOB_NAME}/allocations`, { body: live }, denied);
  await expect(lab.backend.stop(REF)).rejects.toMatchObject({
    code: 'CLUSTER_UNREACHABLE',
    message: expect.stringMatching(/: a0 on node-1 \(running\), a1 .*, a2 [^,]*, 1997 more$/),
  });
});

test('jobs of a deployment are listed by their names and their meta, but for dead ones', async () => {
  const job = (ID: string, parts: object = {}) => ({
    ID,
    Status: 'running',
    SubmitTime: 1.75e18,
    Meta: JOB_META,
    ...parts,
  });
  const [second, third, fourth] = ['2', '3', '4'].map((attempt) => JOB_NAME.replace(/1$/, attempt));
  const first = [job(JOB_NAME), job(`${second}`, { Status: 'dead' }), job('dep-web')];
  const expires = '2026-01-01T00:00:00.000Z';
  const rest = [job(`${third}`, { Meta: null }), job(`${fourth}`, { Meta: { ...JOB_META, attempt: '4', expires } })];
  nomad.on('GET /v1/jobs', { body: first, headers: { 'x-nomad-nexttoken': 'more' } }, { body: rest });
  const ours = { madeAt: 1.75e12, workspaceId: 'acme' };
  expect(await lab.backend.list('dep')).toEqual({
    allocations: [{ name: JOB_NAME, ...ours, expiresAt: Number.POSITIVE_INFINITY }],
    next: 'more',
  });
  expect(await lab.backend.list('dep', 'more')).toEqual({
    allocations: [{ name: fourth, ...ours, expiresAt: Date.parse(expires) }],
  });
  expect(nomad.seen('GET', '/v1/jobs').map(({ query }) => [query.get('prefix'), query.get('next_token')])).toEqual([
    ['dep-', null],
    ['dep-', 'more'],
  ]);
});
