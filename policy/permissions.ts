import type { Permission, Role, Scope } from '../contracts/identity.js';

/** Who acts: a role in a workspace, or the operator of the deployment, and how far the key in hand reaches. */
export interface Rights {
  role: Role | 'operator';
  scope: Scope;
}

const GRANTS: Readonly<Record<Permission, { roles: readonly (Role | 'operator')[]; scope: Scope }>> = {
  read: { roles: ['viewer', 'member', 'admin', 'ci', 'operator'], scope: 'read' },
  register: { roles: ['viewer', 'member', 'admin', 'operator'], scope: 'write' },
  run: { roles: ['member', 'admin', 'ci'], scope: 'write' },
  stop: { roles: ['member', 'admin', 'ci'], scope: 'write' },
  curate: { roles: ['member', 'admin', 'operator'], scope: 'write' },
  administer: { roles: ['admin', 'operator'], scope: 'admin' },
  operate: { roles: ['operator'], scope: 'admin' },
};

const SCOPES: readonly Scope[] = ['read', 'write', 'admin'];

/** A right is what the role may and the scope reaches. */
export function isAllowed({ role, scope }: Rights, permission: Permission): boolean {
  const { roles, scope: needed } = GRANTS[permission];
  return roles.includes(role) && SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);
}
