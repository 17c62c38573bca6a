import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnv } from '../config/cli-env.js';
import { startNodeProcess } from './node-process.js';

const READY_WITHIN_MS = 20_000;

export interface FakeClusterProcess {
  url: string;
  stop(): Promise<void>;
}

interface FakeProgram {
  /** As its first line says it: `fake Nomad`. */
  name: string;
  /** Of its `main`, and of its log. */
  folder: 'fake-nomad' | 'fake-k8s';
  args: string[];
}

/** Starts a fake cluster beside a platform whose data is in `dir`. On port 0 it takes a free one. */
export async function startFakeCluster(
  dir: string,
  { name, folder, args }: FakeProgram,
  signal: AbortSignal,
): Promise<FakeClusterProcess> {
  let url = '';
  const isReady = (log: string): boolean => {
    url = new RegExp(`${name} listens at (\\S+)`).exec(log)?.[1] ?? '';
    return url !== '';
  };
  const root = import.meta.url.endsWith('.ts') ? '../dist/dev' : '.';
  const script = fileURLToPath(new URL(`${root}/${folder}/main.js`, import.meta.url));
  const { stop } = await startNodeProcess(
    {
      ...{ name, script, args: [...args, '--with-parent'], env: childEnv({}) },
      ...{ logFile: path.join(dir, 'logs', `${folder}.log`), readyWithinMs: READY_WITHIN_MS, isReady },
    },
    signal,
  );
  return { url, stop };
}
