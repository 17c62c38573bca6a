import { PlatformError } from '../contracts/errors.js';
import type { RuntimeKind } from '../contracts/runtime.js';
import type { Backend } from './backend.js';
import { LocalBackend, type LocalOptions } from './local/local.backend.js';

export interface BackendOptions {
  /** Absent: this process serves no local runtimes. */
  local?: LocalOptions;
}

/** Makes the backend of a runtime kind. */
export function createBackend(kind: RuntimeKind, { local }: BackendOptions): Backend {
  switch (kind) {
    case 'local':
      if (local) return new LocalBackend(local);
      throw new PlatformError(
        'WRONG_HOST',
        'this worker does not serve local runtimes: another host, or another worker, does',
      );
    case 'nomad':
    case 'k8s':
      throw new PlatformError('BACKEND_NOT_BUILT', `this version cannot run jobs on ${kind} runtimes yet`);
  }
}
