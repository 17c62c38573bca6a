import { aJob, aSpec, JOBS, NAMESPACE, openFakeK8s, PODS } from '../../test/fake-k8s-lab.js';

const lab = await openFakeK8s();
const { fake, call } = lab;
afterAll(() => lab.close());
const named = (name: string) => call('POST', JOBS, { body: aJob(name, { suspend: true }) });
const merge = 'application/merge-patch+json';

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

  test('an old version is 409, another uid 422, what is absent 404', async () => {
    const secrets = `/api/v1/namespaces/${NAMESPACE}/secrets`;
    const { body } = await call('POST', secrets, { body: { metadata: { name: 'versioned' } } });
    const { metadata } = body as { metadata: { resourceVersion: string; uid: string } };
    const patch = (to: object, name = 'versioned') =>
      call('PATCH', `${secrets}/${name}`, { type: merge, body: { metadata: to, data: { a: 'Yg==' } } });
    const { uid, resourceVersion } = metadata;
    expect(await patch({ uid, resourceVersion })).toMatchObject({ status: 200 });
    expect(await patch({ resourceVersion })).toMatchObject({
      status: 409,
      body: { reason: 'Conflict', details: { kind: 'secrets' }, message: expect.stringContaining('has been modified') },
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
      status: { conditions: expect.arrayContaining([expect.objectContaining({ reason: 'EvictionByEvictionAPI' })]) },
    });
  });
});
