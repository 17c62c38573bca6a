import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeCertificates } from '../../dev/fake-k8s/certificates.js';
import { FakeSite } from '../../dev/fake-k8s/fake-site.js';
import { FakeNomad } from '../../dev/fake-nomad/fake-nomad.js';
import { startStack } from '../../dev/launcher.js';
import { eventually } from '../eventually.js';
import { type GitServer, makeRepository, startGitServer } from '../git-server.js';
import { ACCOUNT, NAMESPACE } from '../k8s-case.js';
import { canariesBelow, canariesIn, everyHistory, everyRow } from './canaries.js';
import { postedTo, registeredWith } from './delivered.js';
import { E2ePlatform, MINUTE } from './platform.js';

const canary = (name: string): string => `S3cr3t-${name}-${randomBytes(6).toString('hex')}`;
const CANARIES = {
  cluster: canary('AAAA'),
  /** One that its cluster takes. */
  grid: randomUUID(),
  kube: canary('KKKK'),
  env: canary('BBBB'),
  unnamed: canary('CCCC'),
  git: canary('GGGG'),
  registry: canary('RRRR'),
};

let platform: E2ePlatform;
let nomad: FakeNomad;
let grid: FakeNomad;
/** That the grid takes. */
const tokens: Record<string, { type: 'management' }> = { [CANARIES.grid]: { type: 'management' } };
let kube: FakeSite;
const certificates = makeCertificates();
let forge: GitServer;
beforeAll(async () => {
  platform = await E2ePlatform.start((options) =>
    startStack({ ...options, env: { ...options.env, EVERDICT_SWEEP_SEC: '2', EVERDICT_LINGER_SEC: '5' } }),
  );
  nomad = await FakeNomad.start({ acl: { tokens: {} } });
  grid = await FakeNomad.start({ acl: { tokens } });
  kube = await FakeSite.start({ certificates, accounts: { [CANARIES.kube]: ACCOUNT }, namespaces: [NAMESPACE] });
  makeRepository(path.join(platform.dir, 'forge/repo'), 'forty-two');
  forge = await startGitServer(path.join(platform.dir, 'forge'), 'robot', CANARIES.git);
}, 2 * MINUTE);
afterAll(async () => {
  await Promise.all([nomad.stop(), forge.close()]);
  await platform.stop();
  await Promise.all([grid.stop(), kube.close()]);
}, MINUTE);

const put = (name: string, body: object) => platform.ok('PUT', `/secrets/${name}`, body);
const dataDir = () => path.join(platform.dir, 'data');
const gate = () => path.join(platform.dir, 'gate');

/** What a job may do with its secret, and how it may end. */
const CASES = () => [
  { id: 'prints', task: 'env; printf %s "$KEY" >&2; printf %s "$KEY" | base64; printf "x:%s" "$KEY" | base64; exit 0' },
  { id: 'fails', task: 'echo "$KEY"; exit 3', graders: [{ kind: 'equals', value: 'something else' }] },
  {
    id: 'answers',
    task: 'echo "$KEY" >"$EVERDICT_ANSWER_FILE"; printf \'{"note": "%s"}\' "$KEY" >"$EVERDICT_USAGE_FILE"',
  },
  { id: 'is graded', task: 'true', graders: [{ kind: 'command', command: 'echo "no: $KEY"; exit 1' }] },
  { id: 'hangs', task: 'echo "$KEY"; sleep 600', timeoutSec: 1 },
  { id: 'kills its group', task: 'echo "$KEY"; kill -9 0' },
  {
    id: 'cannot start',
    task: 'true',
    env: { kind: 'repo', source: { files: {} }, setup: ['echo "$KEY" >&2; exit 7'] },
  },
  {
    id: 'is private',
    task: 'cat answer.txt',
    env: { kind: 'repo', source: { git: `${forge.url}/repo/.git`, ref: 'main' } },
  },
  { id: 'waits', task: `until [ -e ${gate()} ]; do sleep 0.05; done` },
];

/** No canary is in what the platform says of a scorecard, or keeps anywhere. Returns what it said. */
async function expectNoneSaid(id: string, answers: unknown[] = []): Promise<string> {
  const said = [...answers];
  for (const { id: runId } of await platform.runs(id)) {
    for (const route of ['', '/attempts', '/logs', '/waiting'])
      said.push(await platform.call('GET', `/runs/${runId}${route}`));
  }
  for (const route of ['/secrets', '/audit', '/metrics', `/scorecards/${id}`, '/runtimes', '/harnesses']) {
    said.push(await platform.call('GET', route));
  }
  const text = JSON.stringify(said);
  expect(canariesIn(Buffer.from(text), CANARIES)).toEqual([]);
  for (const [table, rows] of await everyRow(platform)) {
    expect([table, canariesIn(rows, CANARIES)]).toEqual([table, []]);
  }
  const histories = await everyHistory(await platform.temporal());
  expect(histories.includes(Buffer.from(id))).toBe(true);
  expect(canariesIn(histories, CANARIES)).toEqual([]);
  // Logs of all processes, the servers' own files, and what jobs left.
  expect(canariesBelow(dataDir(), CANARIES)).toEqual([]);
  return text;
}

test(
  'no secret is anywhere but in what delivers it',
  async () => {
    await put('nomad-token', { use: 'cluster', value: CANARIES.cluster, origins: [nomad.url] });
    await put('model-key', { use: 'env', value: CANARIES.env });
    await put('other-key', { use: 'env', value: CANARIES.unnamed });
    await put('forge', { use: 'git', value: `robot:${CANARIES.git}`, hosts: [forge.host] });
    await put('registry', { use: 'registry', value: `robot:${CANARIES.registry}`, hosts: ['registry.example'] });

    const rack = { kind: 'nomad', id: 'rack', version: '1', addr: nomad.url, image: 'x', authSecret: 'nomad-token' };
    await platform.ok('POST', '/runtimes', rack);
    const answers = [
      await platform.call('POST', '/runtimes/validate', rack),
      await platform.call('POST', '/runtimes/probe', rack),
      await platform.call('POST', '/runtimes/probe', { ...rack, addr: forge.url }),
      await platform.call('GET', '/runtimes/rack/versions/1/inspect'),
      await platform.call('PUT', '/secrets/bad', `{"use": "env", "value": ${CANARIES.unnamed}}`),
      await platform.call('PUT', '/secrets/bad', { use: 'env', value: { is: CANARIES.unnamed } }),
    ];

    const request = await platform.register({
      harness: { command: '. "$EVERDICT_TASK_FILE"', env: { KEY: { secretRef: 'model-key' } } },
      cases: CASES(),
      runtime: { maxConcurrent: CASES().length },
    });
    const id = await platform.submit(request);
    await platform.until(id, 'waits', ({ counts }) => counts.settled === CASES().length - 1);
    // While a job lives, one file of its own delivers what it was given.
    await eventually('only the waiting job is left', async () => canariesBelow(dataDir(), CANARIES).length === 1);
    expect(canariesBelow(dataDir(), CANARIES)).toEqual([
      expect.stringMatching(/^state\/jobs\/[^/]+\/payload\/env: env$/),
    ]);
    writeFileSync(gate(), '');
    await platform.completed(id);
    await platform.expectNothingLeft(id, request.runtime);

    const runs = await platform.runs(id);
    const outcomes = Object.fromEntries(runs.map(({ caseId, outcome, errorCode }) => [caseId, errorCode ?? outcome]));
    expect(outcomes).toEqual({
      prints: 'passed',
      fails: 'failed',
      answers: 'passed',
      'is graded': 'failed',
      hangs: 'TIMEOUT',
      'kills its group': 'ABORTED',
      'cannot start': 'SETUP_FAILED',
      'is private': 'passed',
      waits: 'passed',
    });
    expect(await expectNoneSaid(id, answers)).toContain('KEY=*****');

    // Each went to the one place that it is for.
    expect(new Set(nomad.requests.map(({ token }) => token))).toEqual(new Set([CANARIES.cluster]));
    const asked = Buffer.from(forge.asked.join('\n'));
    expect(canariesIn(asked, CANARIES)).toEqual(['git']);
  },
  3 * MINUTE,
);

test(
  'C21 C27 T11 on a cluster, each job has what it names, its image the credential of its registry, and nobody else any',
  async () => {
    await put('grid-token', { use: 'cluster', value: CANARIES.grid, origins: [grid.url] });
    await put('model-key', { use: 'env', value: CANARIES.env });
    await put('other-key', { use: 'env', value: CANARIES.unnamed });
    await put('registry', { use: 'registry', value: `robot:${CANARIES.registry}`, hosts: ['registry.example'] });
    const failure = `Error response from daemon: unauthorized: robot:${CANARIES.registry} may not pull`;
    grid.cluster.images.set('registry.example/denied:1', { failure });
    const runtime = { kind: 'nomad', addr: grid.url, image: 'debian:12', authSecret: 'grid-token', maxConcurrent: 8 };
    const command = '. "$EVERDICT_TASK_FILE"';
    const keyed = await platform.register({
      ...{ runtime, harness: { command, env: { KEY: { secretRef: 'model-key' } } } },
      cases: [
        { id: 'prints', task: 'env; printf %s "$KEY" >&2', image: 'registry.example/x:1' },
        { id: 'kills its group', task: 'echo "$KEY"; kill -9 0', image: 'other.example/x:1' },
        { id: 'is denied', task: 'true', image: 'registry.example/denied:1' },
        { id: 'is cut off', task: 'echo "$KEY"; sleep 600' },
      ],
    });
    const plain = await platform.register({
      ...{ runtime, harness: { command } },
      cases: [{ id: 'names none', task: 'env', image: 'evil.example/registry.example/x:1' }],
    });

    const id = await platform.submit(keyed);
    await platform.until(id, 'is left with one', ({ counts }) => counts.settled === 3);
    const last = `${id}.3`;
    await eventually('it runs', async () => (await platform.attempts(last))[0]?.placedAs);
    delete tokens[CANARIES.grid];
    await platform.completed(id);
    expect((await platform.attempts(last))[0]).toMatchObject({ state: 'cleanup_pending' });
    tokens[CANARIES.grid] = { type: 'management' };
    await eventually('a sweep removes it', async () => (await platform.attempts(last))[0]?.state === 'closed');

    const ends = (await platform.runs(id)).map(({ outcome, errorCode }) => errorCode ?? outcome);
    expect(ends).toEqual(['passed', 'ABORTED', 'IMAGE_UNAVAILABLE', 'CLUSTER_AUTH']);
    expect((await platform.run(last)).reason).toContain('secret grid-token');
    const said = await expectNoneSaid(id);
    expect(['KEY=*****', 'unauthorized: robot:*****'].filter((text) => !said.includes(text))).toEqual([]);
    await platform.expectNothingLeft(id, keyed.runtime);

    const second = await platform.submit(plain);
    expect((await platform.completed(second)).counts).toMatchObject({ passed: 1 });
    await expectNoneSaid(second);

    expect(registeredWith(grid, CANARIES)).toEqual({
      prints: [['env', 'registry'], ['env']],
      'kills its group': [['env'], ['env']],
      'is denied': [['env', 'registry'], ['env']],
      'is cut off': [['env'], ['env']],
      'names none': [[], []],
    });
    expect(new Set(grid.requests.map(({ token }) => token))).toEqual(new Set([CANARIES.grid]));
  },
  3 * MINUTE,
);

test(
  'C21 C25 C27 T11 on Kubernetes, no Job has any of it, and the Secrets of a job have what it names',
  async () => {
    await put('kube-token', { use: 'cluster', value: CANARIES.kube, origins: [kube.fake.url] });
    await put('model-key', { use: 'env', value: CANARIES.env });
    await put('other-key', { use: 'env', value: CANARIES.unnamed });
    await put('forge', { use: 'git', value: `robot:${CANARIES.git}`, hosts: [forge.host] });
    await put('registry', { use: 'registry', value: `robot:${CANARIES.registry}`, hosts: ['registry.example'] });
    const runtime = {
      ...{
        kind: 'k8s',
        server: kube.fake.url,
        caCert: certificates.ca,
        namespace: NAMESPACE,
        authSecret: 'kube-token',
      },
      ...{ image: 'debian:12', maxConcurrent: 8 },
    };
    const command = '. "$EVERDICT_TASK_FILE"';
    const keyed = await platform.register({
      ...{ runtime, harness: { command, env: { KEY: { secretRef: 'model-key' } } } },
      cases: [
        { id: 'prints', task: 'env; printf %s "$KEY" >&2', image: 'registry.example/x:1' },
        { id: 'kills its group', task: 'echo "$KEY"; kill -9 0', image: 'other.example/x:1' },
        {
          id: 'is private',
          task: 'cat answer.txt',
          env: { kind: 'repo', source: { git: `${forge.url}/repo/.git`, ref: 'main' } },
        },
      ],
    });
    const plain = await platform.register({
      ...{ runtime, harness: { command } },
      cases: [{ id: 'names none', task: 'env', image: 'evil.example/registry.example/x:1' }],
    });
    const looks = [
      await platform.call('POST', '/runtimes/probe', { ...runtime, id: 'kube', version: '1' }),
      await platform.call('GET', `/runtimes/${keyed.runtime}/versions/1/inspect`),
    ];
    const id = await platform.submit(keyed);
    await platform.completed(id);
    expect((await platform.runs(id)).map(({ outcome, errorCode }) => errorCode ?? outcome)).toEqual([
      'passed',
      'ABORTED',
      'passed',
    ]);
    expect(await expectNoneSaid(id, looks)).toContain('KEY=*****');
    await platform.expectNothingLeft(id, keyed.runtime);
    const second = await platform.submit(plain);
    expect((await platform.completed(second)).counts).toMatchObject({ passed: 1 });
    await expectNoneSaid(second);

    expect(postedTo(kube.fake, 'jobs', CANARIES)).toEqual({
      prints: [],
      'kills its group': [],
      'is private': [],
      'names none': [],
    });
    expect(postedTo(kube.fake, 'secrets', CANARIES)).toEqual({
      prints: ['env', 'registry'],
      'kills its group': ['env'],
      'is private': ['env', 'git'],
      'names none': [],
    });
    expect(kube.fake.ledger.left('app', 'everdict')).toEqual([]);
    for (const { headers, ...request } of kube.fake.requests) {
      expect(headers.authorization).toBe(`Bearer ${CANARIES.kube}`);
      expect(canariesIn(Buffer.from(JSON.stringify(request)), { kube: CANARIES.kube })).toEqual([]);
    }
  },
  3 * MINUTE,
);
