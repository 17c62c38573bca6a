import { PlatformError } from '../../contracts/errors.js';
import type { SpecFolder } from '../../contracts/registration.js';
import { isAllowed } from '../../policy/permissions.js';
import type { Confirmation } from '../../store/confirmation.js';
import type { KnownVersion } from '../../store/spec-ref.js';
import type { Principal } from './caller.js';
import { KINDS } from './registration.js';

/** A registered version that a submit uses. */
export interface Use {
  table: SpecFolder;
  version: KnownVersion;
}

/** What is confirmed with a submit, by whoever submits: somebody who may confirm. Others are refused. */
export function confirmationBy(principal: Principal, uses: readonly Use[]): Confirmation | undefined {
  const versions = uses.filter(({ version }) => !version.isConfirmed);
  if (versions.length === 0) return undefined;
  if (isAllowed(principal, 'curate')) return { versions, by: principal.subject };
  const names = versions.map(({ table, version: { id, version } }) => `${KINDS[table]} ${id}@${version}`);
  const message = `nobody confirmed ${names.join(' and ')} yet: a member must confirm it before others use it`;
  throw new PlatformError('FORBIDDEN', message);
}

/** What a submit's answer says of the versions it uses. */
export function warningsOf(uses: readonly Use[]): string[] {
  return uses.flatMap(({ table, version: { id, version, isConfirmed, isDeprecated, deprecatedReason } }) => {
    const name = `${KINDS[table]} ${id}@${version}`;
    const why = deprecatedReason === null ? '' : `: ${deprecatedReason}`;
    return [
      ...(isConfirmed ? [] : [`${name} was unconfirmed, and is confirmed by this submit`]),
      ...(isDeprecated ? [`${name} is deprecated${why}`] : []),
    ];
  });
}
