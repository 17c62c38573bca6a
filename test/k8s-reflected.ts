import { setMaxListeners } from 'node:events';
import { ALLOCATION_LABEL } from '../backends/k8s/k8s.labels.js';
import { K8sReflector } from '../backends/k8s/k8s.reflector.js';
import { lines, NAMESPACE, page, ScriptedK8s } from './scripted-k8s.js';

export const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
export const NAME = 'dep-run-1-1';
const { signal } = new AbortController();
// Hundreds wait with it at once.
setMaxListeners(0, signal);
export const SOON = { signal, afterMs: 10_000 };
export const NEVER = lines('open');

/** As lists and watches have it. */
export const aJobObject = (version: number, name = NAME) => ({
  metadata: {
    ...{ name, uid: `u-${name}`, resourceVersion: String(version) },
    labels: { app: 'everdict', 'everdict.dev/deployment': 'dep', [ALLOCATION_LABEL]: name },
  },
});

export const aPodObject = (version: number, phase: string, name = NAME, uid = `p-${name}`) => ({
  metadata: { ...aJobObject(version, name).metadata, uid, name: `${name}-x` },
  status: { phase },
});

/** A scripted Kubernetes without pods, and reflectors of it that end with their test. */
export function reflectedLab() {
  let k8s: ScriptedK8s;
  const closing: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    k8s = await ScriptedK8s.start();
    k8s.on(`GET ${PODS}`, page([], '1')).on(`WATCH ${PODS}`, NEVER);
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
    await k8s.stop();
  });
  return {
    get k8s() {
      return k8s;
    },
    reflector(pace = {}): K8sReflector {
      const link = k8s.link();
      const all = { watchSec: 5, marginMs: 5_000, lingerMs: 0, troubleMs: 0, ...pace };
      const reflector = new K8sReflector(link, 'dep', all);
      closing.push(() => {
        reflector.close();
        return link.close();
      });
      return reflector;
    },
  };
}
