import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { AllocationRef } from '../backend.js';
import { MARKER } from './local.process.js';
import type { JobPaths } from './local.state.js';

/** What a job sees of its host's environment. */
export interface HostEnvironment {
  path: string;
  lang: string;
}

/** A wrapper that this process started: it may not have claimed its directory yet. */
export interface StartedWrapper {
  pid: number | undefined;
  /** How it ended, for people; absent while it runs. */
  end?: string;
}

/**
 * Starts the wrapper as the leader of a process group of its own, which survives this process. Its output goes to
 * files, opened for appending: a second wrapper, which ends at once, or a job that empties them does no harm.
 */
export async function spawnWrapper(
  paths: JobPaths,
  { name, nonce }: AllocationRef,
  host: HostEnvironment,
): Promise<StartedWrapper> {
  const stdout = openSync(paths.stdout, 'a');
  let stderr: number | undefined;
  try {
    stderr = openSync(paths.stderr, 'a');
    const child = spawn('/bin/sh', [join(paths.payload, 'wrapper.sh'), paths.payload, paths.state], {
      cwd: paths.dir,
      detached: true,
      stdio: ['ignore', stdout, stderr],
      env: {
        PATH: host.path,
        LANG: host.lang,
        HOME: join(paths.state, 'work'),
        TMPDIR: join(paths.state, 'tmp'),
        EVERDICT_NONCE: nonce,
        [MARKER]: name,
      },
    });
    const started: StartedWrapper = { pid: child.pid };
    child.once('exit', (status, signal) => {
      started.end = signal ? `was ended by ${signal}` : `ended with status ${status}`;
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    return started;
  } finally {
    closeSync(stdout);
    if (stderr !== undefined) closeSync(stderr);
  }
}
