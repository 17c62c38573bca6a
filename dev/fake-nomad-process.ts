import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnv } from '../config/cli-env.js';
import { startNodeProcess } from './node-process.js';

const SCRIPT = fileURLToPath(
  new URL(`${import.meta.url.endsWith('.ts') ? '../dist/dev' : '.'}/fake-nomad/main.js`, import.meta.url),
);
const READY_WITHIN_MS = 20_000;

/** What the platform has to allow for runtimes on it: its jobs are processes of this machine. */
export const FAKE_NOMAD_ENV = { EVERDICT_ALLOW_UNISOLATED_DRIVERS: '1' };

export interface FakeNomadProcess {
  url: string;
  /** File of a runtime on it. */
  spec: string;
  stop(): Promise<void>;
}

/** Starts a fake Nomad beside a platform. On port 0 it takes a free one. */
export async function startFakeNomad(dir: string, port: number, signal: AbortSignal): Promise<FakeNomadProcess> {
  let url = '';
  const isReady = (log: string): boolean => {
    url = /fake Nomad listens at (\S+)/.exec(log)?.[1] ?? '';
    return url !== '';
  };
  const { stop } = await startNodeProcess(
    {
      ...{ name: 'fake Nomad', script: SCRIPT, args: ['--port', String(port), '--with-parent'], env: childEnv({}) },
      ...{ logFile: path.join(dir, 'logs', 'fake-nomad.log'), readyWithinMs: READY_WITHIN_MS, isReady },
    },
    signal,
  );
  const spec = path.join(dir, 'fake-nomad.json');
  writeFileSync(spec, `${JSON.stringify(runtimeAt(url), null, 2)}\n`);
  return { url, spec, stop };
}

const runtimeAt = (addr: string) => ({
  ...{ kind: 'nomad', id: 'fake-nomad', version: '1.0.0', tags: ['example'] },
  description: 'A fake Nomad on this machine: no isolation, for trying things out.',
  ...{ addr, driver: 'raw_exec', maxConcurrent: 4 },
});
