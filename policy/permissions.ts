import { Permission, type Role, type Scope } from '../contracts/identity.js';

/** Who acts: a role in a workspace, or the operator of the deployment, and how far the key in hand reaches. */
export interface Rights {
  role: Role | 'operator';
  scope: Scope;
}

interface Grant {
  roles: readonly Rights['role'][];
  scope: Scope;
}

const GRANTS: Readonly<Record<Permission, Grant>> = {
  read: { roles: ['viewer', 'member', 'admin', 'ci', 'operator'], scope: 'read' },
  register: { roles: ['viewer', 'member', 'admin', 'operator'], scope: 'write' },
  run: { roles: ['member', 'admin', 'ci'], scope: 'write' },
  stop: { roles: ['member', 'admin', 'ci'], scope: 'write' },
  curate: { roles: ['member', 'admin', 'operator'], scope: 'write' },
  administer: { roles: ['admin', 'operator'], scope: 'admin' },
  operate: { roles: ['operator'], scope: 'admin' },
};

const SCOPES: readonly Scope[] = ['read', 'write', 'admin'];

const reaches = (scope: Scope, needed: Scope): boolean => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);

/** A right is what the role may and the scope reaches. */
export function isAllowed({ role, scope }: Rights, permission: Permission): boolean {
  const { roles, scope: needed } = GRANTS[permission];
  return roles.includes(role) && reaches(scope, needed);
}

/** Whether the first may nothing that the second may not. The operator stands above every role. */
export function isWithin(inner: Rights, outer: Rights): boolean {
  if (outer.role === 'operator') return true;
  return Permission.options.every((permission) => !isAllowed(inner, permission) || isAllowed(outer, permission));
}

/** What is missing, for somebody who is not allowed: the role if that is not enough, else the scope. */
export function missingFor({ role }: Rights, permission: Permission): { roles: Grant['roles'] } | { scope: Scope } {
  const { roles, scope } = GRANTS[permission];
  return roles.includes(role) ? { scope } : { roles };
}
