import { aJob, aSpec, JOBS, NAMESPACE, openFakeK8s, PODS } from '../../test/fake-k8s-lab.js';

const lab = await openFakeK8s({
  accounts: {
    admin: { user: 'admin', rights: ['*'] },
    bound: { user: 'system:serviceaccount:evals:d', rights: ['create jobs', 'get pods/log'], namespaces: [NAMESPACE] },
  },
});
const { fake, call } = lab;
afterAll(() => lab.close());
const named = (name: string) => call('POST', JOBS, { body: aJob(name, { suspend: true }) });

describe('creating', () => {
  test('a Job gets its defaults, a selector and labels by its uid', async () => {
    const { status, body } = await call('POST', JOBS, { body: aJob('defaults', { suspend: true }) });
    expect(status).toBe(201);
    const own = { 'batch.kubernetes.io/job-name': 'defaults', 'job-name': 'defaults' };
    expect(body).toMatchObject({
      ...{ kind: 'Job', apiVersion: 'batch/v1', status: {} },
      metadata: { name: 'defaults', namespace: NAMESPACE, generation: 1 },
      spec: {
        ...{ parallelism: 1, completions: 1, podReplacementPolicy: 'TerminatingOrFailed' },
        template: { metadata: { labels: own }, spec: { terminationGracePeriodSeconds: 30, dnsPolicy: 'ClusterFirst' } },
      },
    });
  });

  test('a name that is taken is 409 with group and kind', async () => {
    await named('taken');
    expect(await named('taken')).toMatchObject({
      status: 409,
      body: {
        message: 'jobs.batch "taken" already exists',
        reason: 'AlreadyExists',
        details: { name: 'taken', group: 'batch', kind: 'jobs' },
      },
    });
  });

  test('a namespace that does not exist is 404 of the namespace, its list is empty', async () => {
    const away = '/apis/batch/v1/namespaces/nope/jobs';
    expect(await call('POST', away, { body: aJob('x') })).toMatchObject({
      status: 404,
      body: { message: 'namespaces "nope" not found', details: { name: 'nope', kind: 'namespaces' } },
    });
    expect(await call('GET', away)).toMatchObject({ status: 200, body: { kind: 'JobList', items: [] } });
  });

  test('a namespace that ends takes nothing', async () => {
    fake.store.create('namespaces', '', { metadata: { name: 'ends' }, status: { phase: 'Terminating' } });
    expect(await call('POST', '/apis/batch/v1/namespaces/ends/jobs', { body: aJob('x') })).toMatchObject({
      status: 403,
      body: {
        message:
          'jobs.batch "x" is forbidden: unable to create new content in namespace ends because it is being terminated',
        details: { causes: [{ reason: 'NamespaceTerminating' }] },
      },
    });
  });

  test.each([
    ['a name of 64 characters', aJob('a'.repeat(64)), 'spec.template.labels', /no more than 63/],
    ['a label value', aJob('l', {}, { labels: { a: 'b/c' } }), 'metadata.labels', /Invalid value: "b\/c"/],
    [
      'a GPU in requests only',
      aJob('g', {
        template: {
          spec: aSpec({ containers: [{ name: 'm', image: 'i', resources: { requests: { 'nvidia.com/gpu': '1' } } }] }),
        },
      }),
      'spec.template.spec.containers[0].resources.limits',
      /^Required value: Limit must be set for non overcommitable resources$/,
    ],
    [
      'a policy of restarts',
      aJob('r', { template: { spec: aSpec({ restartPolicy: 'Always' }) } }),
      'spec.template.spec.restartPolicy',
      /^Required value: valid values: "OnFailure", "Never"$/,
    ],
    [
      'a node selector',
      aJob('n', { template: { spec: aSpec({ nodeSelector: { a: 'b c' } }) } }),
      'spec.template.spec.nodeSelector',
      /Invalid value: "b c"/,
    ],
    [
      'annotations of 300 kB',
      aJob('a', {}, { annotations: { a: 'x'.repeat(300_000) } }),
      'metadata.annotations',
      /^Too long: may not be more than 262144 bytes$/,
    ],
    [
      'a Job that the storage does not take',
      aJob('s', {
        template: { spec: aSpec({ containers: [{ name: 'm', image: 'i', args: ['x'.repeat(2_000_000)] }] }) },
      }),
      'spec.template.metadata.labels[controller-uid]',
      /Invalid value/,
    ],
  ])('%s is 422 with the field', async (_what, body, field, message) => {
    expect(await call('POST', JOBS, { body })).toMatchObject({
      status: 422,
      body: {
        reason: 'Invalid',
        details: {
          kind: 'Job',
          group: 'batch',
          causes: expect.arrayContaining([expect.objectContaining({ field, message: expect.stringMatching(message) })]),
        },
      },
    });
  });

  test('an unknown field is a warning, and 400 where the call is strict', async () => {
    const body = (name: string) => ({ ...aJob(name), spec: { ...aJob(name).spec, suspend: true, bogus: 1 } });
    expect(await call('POST', JOBS, { body: body('warned') })).toMatchObject({
      status: 201,
      headers: { warning: '299 - "unknown field \\"spec.bogus\\""' },
    });
    expect(await call('POST', `${JOBS}?fieldValidation=Strict`, { body: body('strict') })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('strict decoding error: unknown field "spec.bogus"') },
    });
  });

  test.each([
    ['no JSON', '{"metadata":', /must be of type Job/],
    ['another kind', { kind: 'Pod', apiVersion: 'v1' }, /cannot be handled as a Job/],
    ['a wrong type', { ...aJob('t'), spec: { backoffLimit: '0' } }, /cannot unmarshal string/],
  ])('%s is 400', async (_what, body, message) => {
    expect(await call('POST', JOBS, { body })).toMatchObject({
      status: 400,
      body: { reason: 'BadRequest', message: expect.stringMatching(message) },
    });
  });

  test('4 MB are 413', async () => {
    expect(
      await call('POST', JOBS, { body: aJob('b', {}, { annotations: { a: 'x'.repeat(4_000_000) } }) }),
    ).toMatchObject({
      status: 413,
      body: { message: 'Request entity too large: limit is 3145728' },
    });
  });
});

describe('rights', () => {
  test.each([
    [
      'GET',
      '/api/v1/nodes',
      'nodes is forbidden: User "system:serviceaccount:evals:d" cannot list resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'GET',
      `/api/v1/namespaces/${NAMESPACE}`,
      'namespaces "evals" is forbidden: User "system:serviceaccount:evals:d" cannot get resource "namespaces" in API group "" in the namespace "evals"',
    ],
    [
      'POST',
      '/apis/batch/v1/namespaces/nope/jobs',
      'jobs.batch is forbidden: User "system:serviceaccount:evals:d" cannot create resource "jobs" in API group "batch" in the namespace "nope"',
    ],
    [
      'GET',
      `${JOBS}?watch=1`,
      'jobs.batch is forbidden: User "system:serviceaccount:evals:d" cannot watch resource "jobs" in API group "batch" in the namespace "evals"',
    ],
  ])('%s %s is 403 in the words of the server', async (method, path, message) => {
    expect(await call(method, path, { token: 'bound', body: {} })).toMatchObject({ status: 403, body: { message } });
  });

  test('calls are kept with their verb and resource, also refused ones', async () => {
    const from = fake.calls.length;
    await call('POST', JOBS, { token: 'bound', body: aJob('by-bound', { suspend: true }) });
    await call('GET', `${PODS}/p/log`, { token: 'bound' });
    await call('DELETE', `${JOBS}/by-bound`, { token: 'bound' });
    expect(fake.calls.slice(from)).toMatchObject([
      { verb: 'create', resource: 'jobs', namespace: NAMESPACE, isAllowed: true },
      { verb: 'get', resource: 'pods/log', isAllowed: true },
      { verb: 'delete', resource: 'jobs', isAllowed: false },
    ]);
  });

  test('an unknown token is 401 everywhere, no token is 403 but for the version', async () => {
    expect(await call('GET', '/version', { token: 'x' })).toMatchObject({
      status: 401,
      body: { reason: 'Unauthorized' },
    });
    expect(await call('GET', '/version', { token: '' })).toMatchObject({ status: 200 });
    expect(await call('GET', PODS, { token: '' })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('User "system:anonymous" cannot list') },
    });
  });
});
