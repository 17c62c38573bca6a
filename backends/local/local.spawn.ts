import { join } from 'node:path';
import type { AllocationRef, Job } from '../backend.js';
import { LAUNCHER } from './local.launcher.js';
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
export function wrapperOrder(
  paths: JobPaths,
  { program }: Pick<Job, 'program'>,
  { name, nonce }: AllocationRef,
  host: HostEnvironment,
): StartOrder {
  const env = {
    PATH: host.path,
    LANG: host.lang,
    HOME: join(paths.state, 'work'),
    TMPDIR: join(paths.state, 'tmp'),
    [MARKER]: name,
  };
  const { payload, state, dir: cwd, stdout, stderr } = paths;
  if (program) {
    const args = [join(payload, LAUNCHER), payload, state, ...program.entrypoint];
    return { args, cwd, env, stdout, stderr, input: `${nonce}\n` };
  }
  const args = [join(payload, 'wrapper.sh'), payload, state];
  return { args, cwd, env: { ...env, EVERDICT_NONCE: nonce }, stdout, stderr };
}
