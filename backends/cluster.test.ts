import { aK8sRuntime } from '../test/builders.js';
import { createCluster } from './cluster.js';
import { ClusterFailure } from './cluster-client.js';
import { Egress } from './egress/guard.js';

test('a kind without a client says so', async () => {
  const spec = aK8sRuntime();
  if (spec.kind !== 'k8s') throw new Error('the builder makes another kind');
  const cluster = createCluster(spec, undefined, { egress: new Egress([]), nomadConnections: 1 });
  const { signal } = new AbortController();

  expect(await cluster.probe(signal)).toMatchObject({ reachable: false, reason: 'error' });
  await expect(cluster.inspect(signal)).rejects.toThrow(ClusterFailure);
});
