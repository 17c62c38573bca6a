import { Permission, Role, Scope } from '../contracts/identity.js';
import { isAllowed, isWithin, type Rights } from './permissions.js';

const permitted = (rights: Rights) => Permission.options.filter((permission) => isAllowed(rights, permission));

test.each<[Rights['role'], Permission[]]>([
  ['viewer', ['read', 'register']],
  ['member', ['read', 'register', 'run', 'stop', 'curate']],
  ['admin', ['read', 'register', 'run', 'stop', 'curate', 'administer']],
  ['ci', ['read', 'run', 'stop']],
  ['operator', ['read', 'register', 'curate', 'administer', 'operate']],
])('what the whole role %s may', (role, expected) => {
  expect(permitted({ role, scope: 'admin' })).toEqual(expected);
});

test('a scope takes away, and never adds', () => {
  for (const role of [...Role.options, 'operator'] as const) {
    const byScope = Scope.options.map((scope) => permitted({ role, scope }));
    expect(byScope[0]).toEqual(['read']);
    expect(byScope[2]).toEqual(expect.arrayContaining(byScope[1] ?? []));
    expect(byScope[1]).not.toContain('administer');
  }
});

test.each<[string, Rights, Rights, boolean]>([
  ['a lesser role', { role: 'member', scope: 'admin' }, { role: 'admin', scope: 'admin' }, true],
  ['a lesser scope', { role: 'admin', scope: 'write' }, { role: 'admin', scope: 'admin' }, true],
  ['a wider scope', { role: 'admin', scope: 'admin' }, { role: 'admin', scope: 'write' }, false],
  ['a role beside it', { role: 'viewer', scope: 'write' }, { role: 'ci', scope: 'write' }, false],
  ['any role, for the operator', { role: 'ci', scope: 'admin' }, { role: 'operator', scope: 'admin' }, true],
])('%s is within or not', (_title, inner, outer, isInside) => {
  expect(isWithin(inner, outer)).toBe(isInside);
});
