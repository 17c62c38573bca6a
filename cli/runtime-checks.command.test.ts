import { everdict, problem } from '../test/cli-fakes.js';

const FILE = 'examples/runtimes/nomad.json';
const probed = (parts: object) => ({ kind: 'nomad', detail: 'Nomad 1.6.10', latencyMs: 7, ...parts });

test.each([
  [
    'can be registered',
    {
      ok: true,
      kind: 'nomad',
      id: 'rack',
      version: '2',
      existingVersions: ['1'],
      warnings: ['there is no secret T yet'],
    },
    0,
    'runtime rack@2 (nomad) can be registered; rack has 1\n',
  ],
  [
    'is not valid',
    { ok: false, errors: [{ path: 'addr', message: 'is required' }] },
    1,
    'it cannot be registered:\n  addr: is required\n',
  ],
])('validate says that a runtime %s', async (_title, body, code, text) => {
  const { out, err, exitCode, asked } = await everdict(['runtime', 'validate', FILE], () => ({ body }));
  expect([out, exitCode]).toEqual([text, code]);
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /runtimes/validate']);
  expect(err).toBe(body.ok ? 'note: there is no secret T yet\n' : '');
});

test.each([
  [{ reachable: true }, 0, 'nomad is reachable: Nomad 1.6.10 (7 ms)\n'],
  [
    { reachable: false, reason: 'auth', detail: 'it asks \u001b[31mfor more' },
    1,
    'nomad cannot be used (auth): it asks for more (7 ms)\n',
  ],
  [
    { reachable: false, reason: 'unreachable', detail: 'it did not answer in time' },
    1,
    'nomad is not reachable: it did not answer in time (7 ms)\n',
  ],
])('probe tells %j', async (parts, code, text) => {
  const { out, exitCode } = await everdict(['runtime', 'probe', FILE], () => ({ body: probed(parts) }));
  expect([out, exitCode]).toEqual([text, code]);
});

test('register --probe registers what was probed, and nothing that does not answer', async () => {
  const words = ['runtime', 'register', FILE, '--probe'];
  const taken = await everdict(words, ({ path }) => ({
    body:
      path === '/runtimes/probe' ? probed({ reachable: true, checkToken: 'a token' }) : { id: 'rack', version: '1' },
  }));
  expect(taken.asked.map(({ path, headers }) => [path, headers['x-everdict-check']])).toEqual([
    ['/runtimes/probe', undefined],
    ['/runtimes', 'a token'],
  ]);
  expect(taken.exitCode).toBe(0);

  const refused = await everdict(words, () => ({ body: probed({ reachable: false, reason: 'error' }) }));
  expect([refused.asked.length, refused.exitCode]).toEqual([1, 1]);
});

test('inspect shows nodes, what is in use, and warnings beside it', async () => {
  const node = {
    name: 'a',
    status: 'ready',
    schedulable: true,
    labels: {},
    capacity: { cpuMhz: 5_000, memoryMb: 8_000 },
  };
  const body = {
    ...{ id: 'rack', version: '1', kind: 'nomad', cluster: 'Nomad 1.6.10', latencyMs: 9 },
    ...{ running: 7, ours: 2 },
    nodes: [{ ...node, allocated: { cpuMhz: 500 }, running: 2, drivers: ['docker'] }],
    permissions: [
      { action: 'submit-job', allowed: true },
      { action: 'read-fs', allowed: false },
    ],
    warnings: ['allocations: it did not answer in time'],
  };
  const { out, err, exitCode, asked } = await everdict(['runtime', 'inspect', 'rack@1'], () => ({ body }));
  expect(asked.map(({ path }) => path)).toEqual(['/runtimes/rack/versions/1/inspect']);
  expect(out).toMatch(/running +7\nof them ours +2\n/);
  expect(out).toMatch(/cluster +Nomad 1\.6\.10\n.*may +submit-job\n/s);
  expect(out).toMatch(/a +ready +yes +5000 MHz, 8000 MB +500 MHz +2 +docker\n/);
  expect([err, exitCode]).toEqual(['note: allocations: it did not answer in time\n', 0]);
});

test('inspect tells every right, and no column in which there is nothing', async () => {
  const actions = Array.from({ length: 30 }, (_, i) => `get things.example.test/${i}`);
  const body = {
    ...{ id: 'pods', version: '1', kind: 'k8s', cluster: 'Kubernetes v1.34.4', latencyMs: 9, warnings: [] },
    nodes: [{ name: 'a', status: 'Ready', schedulable: true, labels: {}, capacity: { cpuMillicores: 4_000 } }],
    permissions: actions.map((action) => ({ action, allowed: true })),
  };
  const { out } = await everdict(['runtime', 'inspect', 'pods@1'], () => ({ body }));
  expect(out).not.toContain('…');
  expect(out.replace(/\s+/g, ' ')).toContain(`may ${actions.join(', ')} node`);
  expect(out).toMatch(/^node +status +takes jobs +capacity\na +Ready +yes +4 cores\n$/m);
});

test('inspect of a cluster that does not answer is a refusal with its reason', async () => {
  const answer = () =>
    problem(503, { code: 'CLUSTER_UNREACHABLE', detail: 'runtime rack@1 cannot be inspected: gone' });
  const { err, exitCode } = await everdict(['runtime', 'inspect', 'rack@1'], answer);
  expect(err).toContain('cannot be inspected: gone');
  expect(exitCode).toBe(4);
});
