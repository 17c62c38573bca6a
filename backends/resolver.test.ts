import { BackendResolver } from './resolver.js';

test('sends local work elsewhere from a process that serves none', () => {
  expect(() => new BackendResolver({}).forHost()).toThrow(expect.objectContaining({ code: 'WRONG_HOST' }));
});
