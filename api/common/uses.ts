import type { SpecFolder } from '../../contracts/registration.js';
import type { Confirmation } from '../../store/confirmation.js';
import type { KnownVersion } from '../../store/spec-ref.js';
import { KINDS } from './registration.js';

/** A registered version that a submit uses. */
export interface Use {
  table: SpecFolder;
  version: KnownVersion;
}

/** What is confirmed with a submit, by whoever submits. */
export function confirmationBy(by: string, uses: readonly Use[]): Confirmation | undefined {
  const versions = uses.filter(({ version }) => !version.isConfirmed);
  return versions.length > 0 ? { versions, by } : undefined;
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
