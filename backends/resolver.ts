import type { RuntimeKind, RuntimeSpec } from '../contracts/runtime.js';
import type { Backend } from './backend.js';
import { type BackendOptions, createBackend } from './factory.js';

/** Finds the backend that serves a runtime. One per kind and process: a backend knows what it started. */
export class BackendResolver {
  private readonly backends = new Map<RuntimeKind, Backend>();

  constructor(private readonly options: BackendOptions) {}

  forRuntime({ kind }: Pick<RuntimeSpec, 'kind'>): Backend {
    const known = this.backends.get(kind);
    if (known) return known;
    const backend = createBackend(kind, this.options);
    this.backends.set(kind, backend);
    return backend;
  }
}
