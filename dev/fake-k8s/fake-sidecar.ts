import type { PodChange } from './fake-admission.js';
import type { Container } from './fake-objects.js';

const OPT_OUT = 'sidecar.istio.io/inject';
const PROXY: Container = {
  ...{ name: 'istio-proxy', image: 'istio/proxyv2:1' },
  command: ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.2; done'],
};

/** As a mesh adds a container that never ends to every pod that does not say no. */
export const withSidecar: PodChange = (pod) => {
  const { annotations, labels } = pod.metadata;
  if (annotations?.[OPT_OUT] === 'false' || labels?.[OPT_OUT] === 'false') return pod;
  return { ...pod, spec: { ...pod.spec, containers: [...pod.spec.containers, PROXY] } };
};
