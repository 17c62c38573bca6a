import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type FakeClusterProcess, startFakeCluster } from './fake-cluster-process.js';

/** Of the secret that a runtime on it names. */
export const FAKE_K8S_SECRET = 'fake-k8s';

export interface FakeK8sProcess extends FakeClusterProcess {
  /** File of a runtime on it. */
  spec: string;
  /** File of the value that its secret has to have. */
  token: string;
}

/** Starts a fake Kubernetes beside a platform. On port 0 it takes a free one. */
export async function startFakeK8s(dir: string, port: number, signal: AbortSignal): Promise<FakeK8sProcess> {
  const keys = path.join(dir, 'fake-k8s');
  const args = ['--port', String(port), '--dir', keys];
  const { url, stop } = await startFakeCluster(dir, { name: 'fake Kubernetes', folder: 'fake-k8s', args }, signal);
  const spec = path.join(dir, 'fake-k8s.json');
  writeFileSync(spec, `${JSON.stringify(runtimeAt(url, readFileSync(path.join(keys, 'ca.pem'), 'utf8')), null, 2)}\n`);
  return { url, spec, token: path.join(keys, 'token'), stop };
}

const runtimeAt = (server: string, caCert: string) => ({
  ...{ kind: 'k8s', id: 'fake-k8s', version: '1.0.0', tags: ['example'] },
  description: 'A fake Kubernetes on this machine: no isolation, for trying things out.',
  ...{ server, caCert, authSecret: FAKE_K8S_SECRET, image: 'busybox:1', maxConcurrent: 4 },
});
