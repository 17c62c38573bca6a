import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type FakeClusterProcess, startFakeCluster } from './fake-cluster-process.js';

/** What the platform has to allow for runtimes on it: its jobs are processes of this machine. */
export const FAKE_NOMAD_ENV = { EVERDICT_ALLOW_UNISOLATED_DRIVERS: '1' };

export interface FakeNomadProcess extends FakeClusterProcess {
  /** File of a runtime on it. */
  spec: string;
}

/** Starts a fake Nomad beside a platform. On port 0 it takes a free one. */
export async function startFakeNomad(dir: string, port: number, signal: AbortSignal): Promise<FakeNomadProcess> {
  const args = ['--port', String(port)];
  const { url, stop } = await startFakeCluster(dir, { name: 'fake Nomad', folder: 'fake-nomad', args }, signal);
  const spec = path.join(dir, 'fake-nomad.json');
  writeFileSync(spec, `${JSON.stringify(runtimeAt(url), null, 2)}\n`);
  return { url, spec, stop };
}

const runtimeAt = (addr: string) => ({
  ...{ kind: 'nomad', id: 'fake-nomad', version: '1.0.0', tags: ['example'] },
  description: 'A fake Nomad on this machine: no isolation, for trying things out.',
  ...{ addr, driver: 'raw_exec', maxConcurrent: 4 },
});
