import { PlatformError } from '../contracts/errors.js';
import type { Backend } from './backend.js';
import { LocalBackend, type LocalOptions } from './local/local.backend.js';

export interface BackendOptions {
  /** Absent: this process serves no local runtimes. */
  local?: LocalOptions;
}

/** Makes the backend of this host. */
export function createLocalBackend({ local }: BackendOptions): Backend {
  if (local) return new LocalBackend(local);
  throw new PlatformError(
    'WRONG_HOST',
    'this worker does not serve local runtimes: another host, or another worker, does',
  );
}
