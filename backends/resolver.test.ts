import { BackendResolver } from './resolver.js';

describe('BackendResolver', () => {
  test.each(['nomad', 'k8s'] as const)('refuses %s by code, as this version cannot run jobs there', (kind) => {
    expect(() => new BackendResolver({}).forRuntime({ kind })).toThrow(
      expect.objectContaining({ code: 'BACKEND_NOT_BUILT' }),
    );
  });

  test('sends local work elsewhere from a process that serves none', () => {
    expect(() => new BackendResolver({}).forRuntime({ kind: 'local' })).toThrow(
      expect.objectContaining({ code: 'WRONG_HOST' }),
    );
  });
});
