import { type Certificates, makeCertificates } from './certificates.js';
import type { Pod } from './fake-objects.js';
import { withSidecar } from './fake-sidecar.js';
import { FakeSite } from './fake-site.js';

let certificates: Certificates;
let site: FakeSite;

beforeAll(() => {
  certificates = makeCertificates();
});

beforeEach(async () => {
  site = await FakeSite.start({ certificates, accounts: {}, namespaces: ['evals'] });
});

afterEach(() => site.close());

const until = (isSo: (pod: Pod) => boolean): Promise<Pod> =>
  new Promise((resolve) => {
    site.fake.store.onChange(({ kind, object }) => {
      if (kind === 'pods' && isSo(object as Pod)) resolve(object as Pod);
    });
  });

const place = (metadata: Pod['metadata'] | object) =>
  site.fake.cluster.admission.create('pods', 'evals', {
    metadata: { name: 'p', ...metadata },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'x', command: ['/bin/sh', '-c', 'exit 0'] }] },
  });

test('K13 a mesh adds a container that goes on where the one of the pod has ended, unless the pod says no', async () => {
  site.fake.cluster.admission.changePod = withSidecar;
  const goesOn = until(({ status }) => {
    const [proxy, main] = status.containerStatuses ?? [];
    return proxy?.state.running !== undefined && main?.state.terminated !== undefined;
  });
  place({});
  const { status } = await goesOn;
  expect(status.phase).toBe('Running');
  expect(status.containerStatuses?.map(({ name }) => name)).toEqual(['istio-proxy', 'main']);

  const hasEnded = until(({ metadata, status }) => metadata.name === 'q' && status.phase === 'Succeeded');
  place({ name: 'q', annotations: { 'sidecar.istio.io/inject': 'false' } });
  expect((await hasEnded).spec.containers).toHaveLength(1);
});
