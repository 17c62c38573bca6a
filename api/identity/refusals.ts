import { PlatformError } from '../../contracts/errors.js';
import type { Permission } from '../../contracts/identity.js';
import { missingFor } from '../../policy/permissions.js';
import type { Principal } from '../common/caller.js';

/** Somebody came with a credential that proves nothing. */
export const unauthenticated = (message: string): PlatformError =>
  new PlatformError('UNAUTHENTICATED', message, { challenge: { error: 'invalid_token', error_description: message } });

/** Somebody came with none. */
export const anonymous = (): PlatformError =>
  new PlatformError(
    'UNAUTHENTICATED',
    'say who you are by `Authorization: Bearer <API key or token>`; `everdict login` keeps a key for the command line',
    { challenge: {} },
  );

/** Somebody may not do that here. */
export function forbidden(caller: Principal, permission: Permission): PlatformError {
  const missing = missingFor(caller, permission);
  const { subject, role, scope, workspace } = caller;
  if ('scope' in missing) {
    const message = `this needs a key of scope ${missing.scope}: that of ${subject} reaches only ${scope}`;
    return new PlatformError('FORBIDDEN', message, {
      challenge: { error: 'insufficient_scope', error_description: message, scope: missing.scope },
    });
  }
  const needed = missing.roles.map((each) => (each === 'operator' ? 'the operator key' : each)).join(', ');
  const message = `this needs one of: ${needed}; ${subject} is ${role} in workspace ${workspace}`;
  return new PlatformError('FORBIDDEN', message, {
    challenge: { error: 'insufficient_scope', error_description: message },
  });
}
