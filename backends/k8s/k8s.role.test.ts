import { K8sCases, NAMESPACE, recording, USER } from '../../test/k8s-case.js';
import type { AllocationEvent, AllocationRef } from '../backend.js';
import { JOB_RIGHTS, NETWORK_RIGHTS, type Right } from './k8s.rights.js';

const GRANTED = [...JOB_RIGHTS, ...NETWORK_RIGHTS].map(({ verb, group, resource, subresource }: Right) =>
  [verb, group, subresource ? `${resource}/${subresource}` : resource].join(' '),
);

let cases: K8sCases;
beforeEach(async () => {
  cases = await K8sCases.start();
});
afterEach(() => cases.close());

/** A pod of an attempt that was parted from its Job. */
function addPod({ name }: AllocationRef): void {
  const { labels } = cases.fake.store.get('jobs', NAMESPACE, name)?.metadata ?? {};
  cases.fake.cluster.admission.create('pods', NAMESPACE, {
    metadata: { name: `${name}-parted`, labels },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'x', command: ['/bin/sh', '-c', 'sleep 60'] }],
    },
  });
}

test('the role is enough for all that is asked of Kubernetes, and has no right that nothing asks for', async () => {
  const registry = { username: 'u', password: 'p' };
  const during = ({ kind }: AllocationEvent, ref: AllocationRef) => {
    if (kind === 'record') addPod(ref);
  };
  await cases.run(recording(), { job: { network: 'none', registry }, during });
  await cases.run('echo done\n');
  expect((await cases.backend().list('lab')).allocations).toEqual([]);

  const calls = cases.fake.calls.filter(({ user }) => user === USER);
  expect(calls.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
  const asked = calls.map(({ verb, group, resource }) => [verb, group, resource].join(' '));
  expect([...new Set(asked)].toSorted()).toEqual(GRANTED.toSorted());
});
