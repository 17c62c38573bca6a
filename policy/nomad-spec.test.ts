import type { NomadRuntimeSpec } from '../contracts/runtime.js';
import { aNomadRuntime } from '../test/builders.js';
import { runtimeFaults } from './capabilities.js';

const faultsOf = (parts: Record<string, unknown>) =>
  runtimeFaults(aNomadRuntime(parts) as NomadRuntimeSpec, {
    allowLocalRuntimes: false,
    allowUnisolatedDrivers: true,
    allowAmbientKubeconfig: false,
  });
const constrainedBy = (operator: string, value?: string) =>
  faultsOf({
    constraints: [
      { attribute: 'a', value: 'b' },
      { attribute: 'c', operator, value },
    ],
  });

test.each([
  ['=', 'x'],
  ['version', '>= 1.6'],
  ['regexp', ''],
  ['is_set', undefined],
  ['distinct_hosts', undefined],
  ['distinct_property', undefined],
  ['distinct_property', '3'],
])('a constraint with operator %s and value %j is taken', (operator, value) => {
  expect(constrainedBy(operator, value)).toEqual([]);
});

test.each([
  ['=', undefined, 'needs a value'],
  ['>=', '', 'needs a value'],
  ['semver', undefined, 'needs a value'],
  ['set_contains_any', undefined, 'needs a value'],
  ['is_not_set', 'x', 'takes no value'],
  ['distinct_property', 'two', 'takes a number'],
  ['distinct_property', '0', 'takes a number'],
])('a constraint with operator %s and value %j is refused by its place', (operator, value, message) => {
  expect(constrainedBy(operator, value)).toEqual([
    { path: 'constraints[1].value', message: expect.stringContaining(message) },
  ]);
});

test.each([
  ['docker', []],
  ['podman', ['runtime']],
  ['exec', ['runtime']],
  ['raw_exec', ['runtime']],
])('a container runtime with driver %s', (driver, paths) => {
  expect(faultsOf({ driver, runtime: 'runsc' }).map(({ path }) => path)).toEqual(paths);
});
