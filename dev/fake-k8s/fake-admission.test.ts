import { aSpec, NAMESPACE, openCluster, until } from '../../test/fake-k8s-lab.js';

const opened: ReturnType<typeof openCluster>[] = [];
const open = (options: Parameters<typeof openCluster>[0] = {}) => {
  const lab = openCluster(options);
  opened.push(lab);
  return lab;
};
afterEach(() => {
  for (const { cluster } of opened.splice(0)) cluster.close();
});

describe('a quota', () => {
  const limited = { template: { spec: aSpec() } };
  const withMemory = (memory: string) => ({
    template: { spec: aSpec({ containers: [{ name: 'main', image: 'x', resources: { limits: { memory } } }] }) },
  });
  const quota = (lab: ReturnType<typeof open>, hard: Record<string, string>) =>
    lab.store.create('resourcequotas', NAMESPACE, {
      metadata: { name: 'q' },
      spec: { hard },
      status: { hard: {}, used: {} },
    });

  test('lets the Job in and refuses its pod, again and again, until there is room', async () => {
    const lab = open();
    quota(lab, { 'limits.memory': '64Mi' });
    lab.create('over', withMemory('128Mi'));
    const refusal =
      /^Warning FailedCreate Error creating: pods "over-[a-z0-9]{5}" is forbidden: exceeded quota: q, requested: limits.memory=128Mi, used: limits.memory=0, limited: limits.memory=64Mi$/;
    await until(lab.store, () => lab.told('over').filter((each) => refusal.test(each)).length > 1);
    expect(lab.job('over')?.status).not.toHaveProperty('active');
    lab.store.update('resourcequotas', NAMESPACE, 'q', ({ spec }) => {
      spec.hard = { 'limits.memory': '1Gi' };
    });
    await lab.placed('over');
    const { status } = await until(lab.store, () => {
      const found = lab.store.get('resourcequotas', NAMESPACE, 'q');
      return found?.status.used['limits.memory'] !== '0' && found;
    });
    expect(status).toEqual({ hard: { 'limits.memory': '1Gi' }, used: { 'limits.memory': '128Mi' } });
  });

  test('names what has to be said', async () => {
    const lab = open();
    quota(lab, { 'limits.memory': '1Gi', 'requests.cpu': '1' });
    lab.create('silent', limited);
    await until(lab.store, () =>
      lab.told('silent').find((each) => each.includes('must specify limits.memory for: main; requests.cpu for: main')),
    );
  });

  test('on the number of Jobs refuses the Job itself', () => {
    const lab = open();
    quota(lab, { 'count/jobs.batch': '1' });
    lab.create('first');
    expect(() => lab.create('second')).toThrow(
      'jobs.batch \\"second\\" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1',
    );
  });
});

describe('a pod of a Job that was let in', () => {
  const withLimit = (cpu: string) => ({
    template: { spec: aSpec({ containers: [{ name: 'main', image: 'x', resources: { limits: { cpu } } }] }) },
  });
  const refused = (lab: ReturnType<typeof open>, job: string) =>
    until(lab.store, () => lab.told(job).find((each) => each.includes('FailedCreate')));

  test('is refused by a range, with every reason in brackets', async () => {
    const lab = open();
    const limits = [{ type: 'Container', max: { cpu: '100m', memory: '1Gi' } }];
    lab.store.create('limitranges', NAMESPACE, { metadata: { name: 'r' }, spec: { limits } });
    lab.create('wide', withLimit('1'));
    expect(await refused(lab, 'wide')).toMatch(
      /is forbidden: \[maximum cpu usage per Container is 100m, but limit is 1, maximum memory usage per Container is 1Gi\. {2}No limit is specified\]$/,
    );
  });

  test('gets the limits of a range where it has none', async () => {
    const lab = open();
    const limits = [{ type: 'Container', default: { memory: '64Mi' } }];
    lab.store.create('limitranges', NAMESPACE, { metadata: { name: 'r' }, spec: { limits } });
    lab.create('bare');
    const [container] = (await lab.placed('bare')).spec.containers;
    expect(container?.resources).toEqual({ limits: { memory: '64Mi' }, requests: { memory: '64Mi' } });
  });

  test('is refused without its RuntimeClass', async () => {
    const lab = open({ runtimeClasses: ['gvisor'] });
    lab.create('known', { template: { spec: aSpec({ runtimeClassName: 'gvisor' }) } });
    await lab.placed('known');
    lab.create('unknown', { template: { spec: aSpec({ runtimeClassName: 'nope' }) } });
    expect(await refused(lab, 'unknown')).toMatch(/is forbidden: pod rejected: RuntimeClass "nope" not found$/);
  });

  test('is refused by whoever vetoes, in their words', async () => {
    const lab = open();
    lab.cluster.admission.veto = (kind) =>
      kind === 'pods' ? 'violates PodSecurity "restricted:latest": x' : undefined;
    lab.create('vetoed');
    expect(await refused(lab, 'vetoed')).toMatch(/is forbidden: violates PodSecurity "restricted:latest": x$/);
  });
});
