import { aJob, aLab, labsAt, REF } from '../../test/nomad-jobs.js';
import { JOB_META, JOB_NAME, type Scripted, ScriptedNomad, text } from '../../test/scripted-nomad.js';

let nomad: ScriptedNomad;
const { lab } = labsAt(() => nomad.url);
beforeAll(async () => {
  nomad = await ScriptedNomad.start();
});
beforeEach(() => {
  nomad.reset().on('PUT /v1/jobs', REGISTERED);
});
afterAll(() => nomad.stop());

const TOKEN = '11111111-1111-1111-1111-111111111111';
const JOB = `GET /v1/job/${JOB_NAME}`;
const REGISTERED: Scripted = { body: { EvalID: 'e1', EvalCreateIndex: 3, JobModifyIndex: 3 } };
const ABSENT = text(404, 'job not found');
const EXISTS = text(500, 'Enforcing job modify index 0: job already exists');
const jobOf = (parts: object): Scripted => ({ body: { ID: JOB_NAME, Status: 'running', Meta: JOB_META, ...parts } });
const CONFIRMED = { ...REF, submittedAt: 1 };
const registers = (): number => nomad.seen('PUT').length;

test.each<[string, Scripted, typeof REF, string, number]>([
  ['absent, never confirmed', ABSENT, REF, 'created', 1],
  ['absent although confirmed', ABSENT, CONFIRMED, 'lost', 0],
  ['ours and running', jobOf({}), REF, 'adopted', 0],
  ['ours and dead', jobOf({ Status: 'dead' }), CONFIRMED, 'adopted', 0],
  ['of someone else', jobOf({ Meta: { ...JOB_META, run: 'other' } }), CONFIRMED, 'taken', 0],
  ['without meta', jobOf({ Meta: null }), REF, 'taken', 0],
])('D39 a job that is %s', async (_title, found, ref, submitted, made) => {
  nomad.on(JOB, found);
  expect([await lab().backend.submit(aJob(), ref), registers()]).toEqual([submitted, made]);
});

test('D39 a read that fails is no absence: nothing is created, and it is tried again later', async () => {
  const answers = [
    text(500, 'something broke'),
    text(500, 'No cluster leader'),
    'rst' as const,
    text(404, '404 page not found'),
  ];
  const tried = answers.map(async (answer) => {
    const own = (await ScriptedNomad.start()).reset().on(JOB, answer).on('PUT /v1/jobs', REGISTERED);
    const { backend, client } = aLab(own.url);
    await expect(backend.submit(aJob(), REF)).rejects.toMatchObject({
      reason: expect.stringMatching(/error|unreachable/),
    });
    await Promise.all([client.close(), own.stop()]);
    return own.seen('PUT').length;
  });
  expect(await Promise.all(tried)).toEqual([0, 0, 0, 0]);
}, 20_000);

test('a job is registered on the condition that there is none, with what it is made of', async () => {
  nomad.on(JOB, ABSENT);
  await lab({ region: 'emea', namespace: 'evals', token: TOKEN }).backend.submit(aJob(), REF);
  const [put] = nomad.seen('PUT');
  expect(JSON.parse(put?.body ?? '')).toMatchObject({
    EnforceIndex: true,
    JobModifyIndex: 0,
    Job: { ID: JOB_NAME, Type: 'batch', Region: 'emea', Meta: JOB_META },
  });
  expect(put?.body).not.toContain(TOKEN);
  const places = nomad.requests.map(({ query, token }) => [query.get('region'), query.get('namespace'), token]);
  expect(new Set(places.map(String))).toEqual(new Set([`emea,evals,${TOKEN}`]));
});

test('N23 what another worker registered meanwhile is adopted, and never registered again', async () => {
  nomad.on(JOB, ABSENT, jobOf({})).on('PUT /v1/jobs', EXISTS);
  expect([await lab().backend.submit(aJob(), REF), registers()]).toEqual(['adopted', 1]);
});

test('a lost answer is looked for: a job that is there was created, and one that is not is registered again', async () => {
  nomad.on(JOB, ABSENT, jobOf({})).on('PUT /v1/jobs', 'rst');
  expect([await lab().backend.submit(aJob(), REF), registers()]).toEqual(['adopted', 1]);
  nomad.requests.length = 0;
  nomad.on(JOB, ABSENT).on('PUT /v1/jobs', 'rst', text(500, 'No cluster leader'), REGISTERED);
  expect([await lab().backend.submit(aJob(), REF), registers()]).toEqual(['created', 3]);
});

test('nothing is asked for once it is cancelled', async () => {
  const submitted = lab().backend.submit(aJob(), REF, undefined, AbortSignal.abort());
  await expect(submitted).rejects.toMatchObject({ reason: 'unreachable' });
  expect(nomad.requests).toEqual([]);
});

test('what repeats the token is told without it', async () => {
  nomad.on(JOB, ABSENT).on('PUT /v1/jobs', text(500, `1 error occurred:\n\t* bad header ${TOKEN}\n\n`));
  const submitted = lab({ token: TOKEN }).backend.submit(aJob(), REF);
  await expect(submitted).rejects.toMatchObject({ message: expect.stringMatching(/bad header \*{5}$/) });
});

test('an attempt that has ended is not begun', async () => {
  nomad.on(JOB, ABSENT);
  expect([await lab().backend.submit(aJob(), REF, async () => false), registers()]).toEqual(['over', 0]);
});

test('CPU that is declared without a clock of a core is refused before anything is created', async () => {
  nomad.on(JOB, ABSENT);
  const job = aJob({ resources: { cpuMillicores: 500 } });
  await expect(lab().backend.submit(job, REF)).rejects.toMatchObject({ code: 'BAD_SPEC' });
  expect(registers()).toBe(0);
});

const PERMISSION: Scripted = text(403, 'Permission denied');
const self = (ExpirationTime: string | null): Scripted => ({
  body: { AccessorID: 'a', Type: 'client', Policies: ['jobs'], Roles: null, ExpirationTime },
});

test.each<[string, Scripted, string, RegExp]>([
  ['that is valid', self(null), 'refused', /`namespace`.*may not run jobs in evals \(403\).*submit-job/],
  ['that is not known', text(404, 'ACL token not found'), 'auth', /may not do this/],
  ['that has expired', self('2020-01-01T00:00:00Z'), 'auth', /may not do this/],
])('a 403 to a token %s', async (_title, answer, reason, message) => {
  nomad.on(JOB, ABSENT).on('PUT /v1/jobs', PERMISSION).on('GET /v1/acl/token/self', answer);
  const submitted = lab({ token: TOKEN, namespace: 'evals' }).backend.submit(aJob(), REF);
  await expect(submitted).rejects.toMatchObject({ reason, message: expect.stringMatching(message) });
  expect(registers()).toBe(1);
});

test.each([
  ['a namespace', '1 error occurred:\n\t* job "x" is in nonexistent namespace "evals"\n\n', /`namespace`.*evals/],
  ['a validation', '2 error(s) occurred:\n\n\t* minimum MemoryMB value is 10; got 1\n\t* b', /MemoryMB value is 10/],
])(
  '%s that Nomad refuses is the fault of the spec, in its words, and not tried again',
  async (_title, said, message) => {
    nomad.on(JOB, ABSENT).on('PUT /v1/jobs', text(500, said));
    const submitted = lab().backend.submit(aJob(), REF);
    await expect(submitted).rejects.toMatchObject({ reason: 'refused', message: expect.stringMatching(message) });
    expect(registers()).toBe(1);
  },
);

test('a region that is not there is the fault of the spec', async () => {
  nomad.on(JOB, ABSENT).on('PUT /v1/jobs', text(500, 'No path to region'));
  const submitted = lab({ region: 'nowhere' }).backend.submit(aJob(), REF);
  await expect(submitted).rejects.toMatchObject({ reason: 'refused', message: expect.stringMatching(/`region`/) });
});

test('the version of the cluster is asked for once, and may be withheld', async () => {
  nomad.on(JOB, ABSENT).on('GET /v1/agent/self', PERMISSION);
  const { backend } = lab({ token: TOKEN });
  await Promise.all([backend.submit(aJob(), REF), backend.submit(aJob(), REF)]);
  expect([registers(), nomad.seen('GET', '/v1/agent/self').length]).toEqual([2, 1]);
});

test('a version that cannot be read now keeps only jobs waiting that need a later one', async () => {
  nomad.on(JOB, ABSENT).on('GET /v1/agent/self', text(502, 'Bad Gateway'));
  const { backend } = lab();
  const payload = new Map(Array.from({ length: 300 }, (_, at) => [`file-${at}`, Buffer.from('x')] as const));
  await expect(backend.submit(aJob({ payload }), REF)).rejects.toMatchObject({ reason: 'error' });
  expect(await backend.submit(aJob(), REF)).toBe('created');
  nomad.on('GET /v1/agent/self', PERMISSION);
  const other = lab({ token: TOKEN }).backend;
  await expect(other.submit(aJob({ payload }), REF)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  expect(registers()).toBe(1);
});

test('what a job was given is told once it was submitted', async () => {
  nomad.on(JOB, ABSENT);
  const { backend } = lab({ cpuMhzPerCore: 2_600 });
  await backend.submit(aJob({ resources: { cpuMillicores: 500, memoryMb: 256 } }), REF);
  expect(await backend.provenance(REF)).toMatchObject({
    namespace: 'default',
    enforced: { cpu: { mhz: 1_300, millicores: 500 }, memoryMb: 256 },
  });
});
