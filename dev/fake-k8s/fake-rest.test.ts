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
const merge = 'application/merge-patch+json';

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

describe('reading', () => {
  beforeAll(async () => {
    for (const name of ['l-1', 'l-2', 'l-3']) {
      await call('POST', JOBS, { body: aJob(name, { suspend: true }, { labels: { app: 'everdict', at: name } }) });
    }
  });
  const names = async (query: string): Promise<string[]> => {
    const { body } = await call('GET', `${JOBS}?${query}`);
    return (body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
  };

  test.each([
    ['app=everdict', ['l-1', 'l-2', 'l-3']],
    ['app==everdict,at!=l-2', ['l-1', 'l-3']],
    ['at in (l-1,l-3)', ['l-1', 'l-3']],
    ['app,at notin (l-1)', ['l-2', 'l-3']],
  ])('labels are selected by %s', async (selector, found) => {
    expect(await names(`labelSelector=${encodeURIComponent(selector)}`)).toEqual(found);
  });

  test('fields are selected, those that nobody can ask for are 400', async () => {
    expect(await names('fieldSelector=metadata.name%3Dl-2')).toEqual(['l-2']);
    expect(await call('GET', `${JOBS}?fieldSelector=spec.bogus%3Db`)).toMatchObject({
      status: 400,
      body: { message: 'field label "spec.bogus" not supported for Job' },
    });
  });

  test('pages follow each other, and a place that is too old is 410', async () => {
    const query = 'labelSelector=app%3Deverdict&limit=2';
    const { body } = await call('GET', `${JOBS}?${query}`);
    const { metadata } = body as { metadata: { continue: string } };
    expect(await names(`${query}&continue=${metadata.continue}`)).toEqual(['l-3']);
    await named('later');
    fake.store.compact();
    expect(await call('GET', `${JOBS}?${query}&continue=${metadata.continue}`)).toMatchObject({
      status: 410,
      body: { reason: 'Expired', message: expect.stringMatching(/^The provided continue parameter is too old/) },
    });
  });

  test('a version of the future is 504 of a kind that was not applied', async () => {
    expect(await call('GET', `${JOBS}?resourceVersion=99999999`)).toMatchObject({
      status: 504,
      body: { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 } },
    });
  });

  test('what does not exist is 404 by its kind, what is no resource by another text', async () => {
    expect(await call('GET', `${JOBS}/nope`)).toMatchObject({
      status: 404,
      body: { message: 'jobs.batch "nope" not found', details: { name: 'nope', group: 'batch', kind: 'jobs' } },
    });
    expect(await call('GET', '/apis/batch/v1/namespaces/evals/jobz')).toMatchObject({
      status: 404,
      body: { message: 'the server could not find the requested resource' },
    });
    expect(await call('GET', '/nope')).toMatchObject({ status: 404, text: '404 page not found\n' });
  });

  test('the log of a pod without a node is 204 without a type', async () => {
    await call('POST', PODS, { body: { metadata: { name: 'bare' }, spec: aSpec() } });
    const reply = await call('GET', `${PODS}/bare/log`);
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([204, '', undefined]);
  });
});

describe('patching', () => {
  test('a merge is by its type, JSON as such is 415', async () => {
    await named('patched');
    expect(await call('PATCH', `${JOBS}/patched`, { body: {} })).toMatchObject({
      status: 415,
      body: { message: '415: Unsupported Media Type', reason: 'UnsupportedMediaType' },
    });
    expect(
      await call('PATCH', `${JOBS}/patched`, { type: merge, body: { metadata: { labels: { a: 'b' } } } }),
    ).toMatchObject({
      status: 200,
      body: { metadata: { labels: { a: 'b' } }, spec: { suspend: true } },
    });
  });

  test('an old version is 409, another uid 422, an absent Job 404', async () => {
    const { body } = await named('versioned');
    const { metadata } = body as { metadata: { resourceVersion: string; uid: string } };
    const patch = (to: object, name = 'versioned') =>
      call('PATCH', `${JOBS}/${name}`, { type: merge, body: { metadata: to, spec: { backoffLimit: 1 } } });
    expect(await patch({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).toMatchObject({
      status: 200,
    });
    expect(await patch({ resourceVersion: metadata.resourceVersion })).toMatchObject({
      status: 409,
      body: { reason: 'Conflict', details: { kind: 'jobs' }, message: expect.stringContaining('has been modified') },
    });
    expect(await patch({ uid: 'other' })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'metadata.uid' }] } },
    });
    expect(await patch({}, 'nope')).toMatchObject({ status: 404 });
  });

  test('the template of a Job stays as it is', async () => {
    await named('fixed');
    const body = { spec: { template: { spec: { containers: [{ name: 'main', image: 'other' }] } } } };
    expect(await call('PATCH', `${JOBS}/fixed`, { type: merge, body })).toMatchObject({
      status: 422,
      body: {
        details: { causes: [{ field: 'spec.template', message: expect.stringContaining('field is immutable') }] },
      },
    });
  });
});

describe('deleting', () => {
  test('in the background it is a Status with the uid, after that 404', async () => {
    const { body } = await named('d-1');
    const { uid } = (body as { metadata: { uid: string } }).metadata;
    const options = { propagationPolicy: 'Background', preconditions: { uid } };
    expect(await call('DELETE', `${JOBS}/d-1`, { body: options })).toMatchObject({
      status: 200,
      body: { kind: 'Status', status: 'Success', details: { name: 'd-1', group: 'batch', kind: 'jobs', uid } },
    });
    expect(await call('DELETE', `${JOBS}/d-1`, { body: options })).toMatchObject({ status: 404 });
  });

  test('another uid is 409 of the kind Job', async () => {
    await named('d-2');
    const options = { propagationPolicy: 'Background', preconditions: { uid: 'x' } };
    expect(await call('DELETE', `${JOBS}/d-2`, { body: options })).toMatchObject({
      status: 409,
      body: {
        reason: 'Conflict',
        details: { name: 'd-2', kind: 'Job' },
        message: expect.stringContaining('UID in the precondition (x)'),
      },
    });
  });

  test('a policy that there is none of is 422', async () => {
    await named('d-3');
    expect(await call('DELETE', `${JOBS}/d-3`, { body: { propagationPolicy: 'Nope' } })).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'propagationPolicy' }] } },
    });
  });
});

describe('evicting', () => {
  const evict = (name: string) => call('POST', `${PODS}/${name}/eviction`, { body: { kind: 'Eviction' } });

  test('a budget refuses with 429, without one the pod is marked and goes', async () => {
    await call('POST', PODS, { body: { metadata: { name: 'e-1', finalizers: ['test/kept'] }, spec: aSpec() } });
    fake.cluster.evictions.isBlocked = true;
    expect(await evict('e-1')).toMatchObject({
      status: 429,
      body: { reason: 'TooManyRequests', details: { causes: [{ reason: 'DisruptionBudget' }] } },
    });
    fake.cluster.evictions.isBlocked = false;
    expect(await evict('e-1')).toMatchObject({ status: 201, body: { status: 'Success' } });
    expect(fake.store.get('pods', NAMESPACE, 'e-1')).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { conditions: [{ type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }] },
    });
  });
});
