import { join } from 'node:path';
import type { AllocationRef } from '../backend.js';
import { MARKER } from './local.process.js';
import type { StartOrder } from './local.starter.js';
import type { JobPaths } from './local.state.js';

/** What a job sees of its host's environment. */
export interface HostEnvironment {
  path: string;
  lang: string;
}

/**
 * How the wrapper of a job is started. Its output goes to files, opened for appending: a second wrapper, which ends at
 * once, or a job that empties them does no harm.
 */
export function wrapperOrder(paths: JobPaths, { name, nonce }: AllocationRef, host: HostEnvironment): StartOrder {
  return {
    args: [join(paths.payload, 'wrapper.sh'), paths.payload, paths.state],
    cwd: paths.dir,
    env: {
      PATH: host.path,
      LANG: host.lang,
      HOME: join(paths.state, 'work'),
      TMPDIR: join(paths.state, 'tmp'),
      EVERDICT_NONCE: nonce,
      [MARKER]: name,
    },
    stdout: paths.stdout,
    stderr: paths.stderr,
  };
}
