import { type Api, registerWorld, rowCounts, startApi } from './server.js';

let api: Api;
beforeAll(async () => {
  api = await startApi();
  await registerWorld(api, { size: 6 });
  const specs: [string, object][] = [
    ['/harnesses', { kind: 'process', id: 'binary', version: '1', entrypoint: ['/bin/agent'] }],
    ['/harnesses', { kind: 'service', id: 'topology', version: '1' }],
    [
      '/harnesses',
      { kind: 'command', id: 'keyed', version: '1', command: 'x', env: { KEY: { secretRef: 'MODEL_KEY' } } },
    ],
    ['/harnesses', { kind: 'command', id: 'heavy', version: '1', command: 'x', resources: { memoryMb: 1_001 } }],
    ['/harnesses', { kind: 'command', id: 'exact', version: '1', command: 'x', resources: { memoryMb: 1_000 } }],
    ['/harnesses', { kind: 'command', id: 'in-env', version: '1', command: 'printf %s "$EVERDICT_TASK"' }],
    ['/harnesses', { kind: 'command', id: 'tuned', version: '1', command: 'x', params: { 'max-steps': 3 } }],
    [
      '/runtimes',
      { kind: 'nomad', id: 'rack', version: '1', addr: 'http://nomad.test:4646', image: 'i', memoryBudgetMb: 600 },
    ],
    [
      '/runtimes',
      { kind: 'k8s', id: 'kube', version: '1', server: 'https://kube.test:6443', authSecret: 'token', image: 'i' },
    ],
    [
      '/datasets',
      {
        id: 'targeted',
        version: '1',
        cases: [
          { id: 'a', task: 'x', placement: { target: 'here' } },
          { id: 'b', task: 'x', placement: { target: 'here@1.0.0' } },
        ],
      },
    ],
    ['/datasets', { id: 'lost', version: '1', cases: [{ id: 'a', task: 'x', placement: { target: 'gone' } }] }],
    [
      '/datasets',
      {
        id: 'half',
        version: '1',
        cases: [
          { id: 'a', task: 'x', placement: { target: 'here' } },
          { id: 'b', task: 'x' },
        ],
      },
    ],
    [
      '/datasets',
      {
        id: 'scripts',
        version: '1',
        cases: [
          {
            id: 'a',
            task: 'x',
            env: { kind: 'repo', source: { files: {} }, setup: ['make'] },
            graders: [{ kind: 'command', command: 'make test' }],
          },
        ],
      },
    ],
    ['/datasets', { id: 'gpu', version: '1', cases: [{ id: 'a', task: 'x', resources: { gpu: 1 } }] }],
    ['/datasets', { id: 'browser', version: '1', cases: [{ id: 'a', task: 'x', env: { kind: 'browser' } }] }],
    [
      '/datasets',
      {
        id: 'offline',
        version: '1',
        cases: [
          { id: 'ok', task: 'x' },
          { id: 'a', task: 'x', network: { mode: 'none' } },
        ],
      },
    ],
    ['/datasets', { id: 'long', version: '1', cases: [{ id: 'a', task: 'x'.repeat(102_401) }] }],
    ['/datasets', { id: 'fits', version: '1', cases: [{ id: 'a', task: 'x'.repeat(102_400) }] }],
    ['/datasets', { id: 'bulky', version: '1', cases: [{ id: 'a', task: 'x'.repeat(524_289) }] }],
  ];
  for (const [path, spec] of specs) {
    const { status, body } = await api.send('POST', path, spec);
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
}, 60_000);
afterAll(() => api.close());

const wanted = { dataset: 'tasks', harness: 'echo', runtime: 'here' };

describe('a submit', () => {
  test('answers 202 with the place to follow, stores every run, and starts the root workflow', async () => {
    const reply = await api.send('POST', '/scorecards', { ...wanted, trials: 2, metadata: { sha: 'abc' } });
    const self = `/scorecards/${reply.body.id}`;
    expect([reply.status, reply.headers.get('location')]).toEqual([202, self]);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^sc_/),
      status: 'queued',
      runtime: 'here@1.0.0',
      cases: 12,
      links: { self, cases: `${self}/cases`, cancel: `${self}/cancel` },
      warnings: [],
    });
    expect(api.calls.at(-1)).toEqual({
      verb: 'start',
      workflowId: `scorecard:${reply.body.id}`,
      argument: { workspaceId: 'default', scorecardId: reply.body.id, total: 12 },
    });
    const { body } = await api.send('GET', self);
    expect(body).toMatchObject({
      dataset: 'tasks@1.0.0',
      harness: 'echo@1.0.0',
      runtime: 'here@1.0.0',
      trials: 2,
      metadata: { sha: 'abc' },
    });
    expect(body.counts).toMatchObject({ submitted: 12, queued: 12, settled: 0 });
  });

  test.each([
    ['ids', { ids: ['case-4', 'case-1'] }, ['case-1', 'case-4']],
    ['tags', { tags: ['even'] }, ['case-0', 'case-2', 'case-4']],
    ['a limit', { limit: 2 }, ['case-0', 'case-1']],
    ['tags and a limit', { tags: ['even'], limit: 1 }, ['case-0']],
  ])('runs only the cases that %s select', async (_title, cases, ids) => {
    const { body } = await api.send('POST', '/scorecards', { ...wanted, cases });
    const runs = await api.send('GET', body.links.cases);
    expect(runs.body.items.map(({ caseId }: { caseId: string }) => caseId)).toEqual(ids);
  });

  test('without a runtime sends each case to its own target', async () => {
    const { status, body } = await api.send('POST', '/scorecards', { dataset: 'targeted', harness: 'echo' });
    expect([status, body.cases]).toEqual([202, 2]);
    expect((await api.send('GET', body.links.self)).body.runtime).toBeNull();
  });

  test('is admitted when its demand is exactly the envelope, and its task exactly what fits', async () => {
    expect((await api.send('POST', '/scorecards', { ...wanted, harness: 'exact' })).status).toBe(202);
    expect((await api.send('POST', '/scorecards', { ...wanted, dataset: 'fits', harness: 'in-env' })).status).toBe(202);
    expect((await api.send('POST', '/scorecards', { ...wanted, dataset: 'long' })).status).toBe(202);
    expect((await api.send('POST', '/scorecards', { ...wanted, dataset: 'long', harness: 'binary' })).status).toBe(202);
    expect(
      (await api.send('POST', '/scorecards', { ...wanted, harness: 'tuned', params: { 'max-steps': 9 } })).status,
    ).toBe(202);
  });

  test.each([
    ['an unknown dataset', { dataset: 'none' }, 404, 'NOT_FOUND', ['dataset none']],
    ['an unknown version of a dataset', { dataset: 'tasks@9' }, 404, 'NOT_FOUND', ['dataset tasks@9', '1.0.0']],
    ['an unknown harness', { harness: 'none@1' }, 404, 'NOT_FOUND', ['harness none@1']],
    ['G63: an unknown runtime', { runtime: 'none' }, 404, 'NOT_FOUND', ['runtime none']],
    ['an unknown version of a runtime', { runtime: 'here@2' }, 404, 'NOT_FOUND', ['runtime here@2', '1.0.0']],
    ['G63: no runtime', { runtime: undefined }, 400, 'RUNTIME_REQUIRED', ['6 of the cases', 'runtime']],
    [
      'no runtime and one case without target',
      { dataset: 'half', runtime: undefined },
      400,
      'RUNTIME_REQUIRED',
      ['1 of the cases'],
    ],
    ['G63: an unknown target', { dataset: 'lost', runtime: undefined }, 404, 'NOT_FOUND', ['runtime gone']],
    ['unknown case ids', { cases: { ids: ['case-1', 'case-x', 'case-y'] } }, 404, 'NOT_FOUND', ['"case-x", "case-y"']],
    ['no case', { cases: { tags: ['none'] } }, 400, 'NO_CASES', ['tasks@1.0.0']],
    ['too many runs', { trials: 1_000, dataset: 'many' }, 400, 'BAD_REQUEST', ['110000', '100000']],
    [
      'cases with scripts, which no process runs',
      { harness: 'binary', dataset: 'scripts' },
      400,
      'BAD_SPEC',
      ['cases.a.graders[0]', 'binary', 'and 1 more'],
    ],
    ['a harness of services', { harness: 'topology' }, 501, 'HARNESS_NOT_BUILT', ['service']],
    [
      'E49: a closed network on a cluster that is not known to enforce it',
      { dataset: 'offline', runtime: 'kube' },
      400,
      'BAD_SPEC',
      ['cases.a.network.mode', 'EVERDICT_NETWORK_POLICY_CLUSTERS'],
    ],
    ['a secret that is not stored', { harness: 'keyed' }, 400, 'SECRET_MISSING', ['MODEL_KEY']],
    ['a demand above the envelope', { harness: 'heavy' }, 400, 'DEMAND_EXCEEDS_ENVELOPE', ['1001', '1000', 'case-0']],
    [
      'F53: such a demand on nomad',
      { harness: 'heavy', runtime: 'rack' },
      400,
      'DEMAND_EXCEEDS_ENVELOPE',
      ['1001', '600'],
    ],
    ['a gpu on local', { dataset: 'gpu' }, 400, 'BAD_SPEC', ['cases.a.resources.gpu']],
    ['a browser on local', { dataset: 'browser' }, 400, 'CAPABILITY_MISSING', ['browser', 'here@1.0.0 has none']],
    ['a closed network on local', { dataset: 'offline' }, 400, 'BAD_SPEC', ['cases.a.network.mode']],
    [
      'a task too long for the environment',
      { dataset: 'long', harness: 'in-env' },
      400,
      'BAD_SPEC',
      ['EVERDICT_TASK_FILE', '102401', '102400'],
    ],
    ['a payload above 512 KB', { dataset: 'bulky' }, 400, 'PAYLOAD_TOO_LARGE', ['524288']],
    [
      'a parameter the harness does not know',
      { harness: 'tuned', params: { maxsteps: 3 } },
      400,
      'BAD_REQUEST',
      ['max-steps'],
    ],
    ['an unknown key', { runtme: 'here' }, 400, 'BAD_REQUEST', ['runtme']],
    ['a wrong type', { trials: 'two' }, 400, 'BAD_REQUEST', ['trials']],
  ])('of %s is refused before anything is stored', async (_title, change, status, code, parts) => {
    if ('dataset' in change && change.dataset === 'many') await registerMany();
    const before = await rowCounts(api);
    const calls = api.calls.length;
    const { status: got, body } = await api.send('POST', '/scorecards', { ...wanted, ...change });
    expect([got, body.code]).toEqual([status, code]);
    for (const part of parts) expect(body.detail).toContain(part);
    expect(await rowCounts(api)).toEqual(before);
    expect(api.calls.length).toBe(calls);
  });

  const registerMany = () =>
    api.send('POST', '/datasets', {
      id: 'many',
      version: '1',
      cases: Array.from({ length: 110 }, (_, i) => ({ id: `${i}`, task: 'x' })),
    });
});

test('10,000 cases are checked and stored in one submit', async () => {
  const lines = Array.from({ length: 10_000 }, (_, i) =>
    JSON.stringify({ id: `problem/${i}`, task: `task ${i}`.repeat(20) }),
  );
  await api.send('POST', '/datasets?id=large&version=1', lines.join('\n'), { 'content-type': 'application/x-ndjson' });
  const { status, body } = await api.send('POST', '/scorecards', { ...wanted, dataset: 'large' });
  expect([status, body.cases]).toEqual([202, 10_000]);
});
