import type { FastifyReply } from 'fastify';
import { PlatformError } from '../../contracts/errors.js';
import type { SpecFolder } from '../../contracts/registration.js';
import { isAllowed } from '../../policy/permissions.js';
import type { Registrant, Registration } from '../../store/registration.js';
import type { Principal } from './caller.js';

/** A registered spec, by what names it. */
export interface Named {
  id: string;
  version: string;
}

/** What the spec kinds of the registry are called, in paths and in sentences. */
export const KINDS = { datasets: 'dataset', harnesses: 'harness', runtimes: 'runtime' } as const;

/** A registration that was accepted. */
export interface Accepted {
  isNew: boolean;
  isConfirmed: boolean;
}

/** Places that a refusal lists. */
const MOST_PLACES = 5;

/** What somebody registers who may not confirm waits for somebody who may. */
export const registrantOf = (principal: Principal): Registrant => ({
  subject: principal.subject,
  mayConfirm: isAllowed(principal, 'curate'),
});

/** Versions are immutable: the same content again is accepted, another one under the same version is refused. */
export function accepted(
  { kind: outcome, isConfirmed, differs = [] }: Registration,
  kind: (typeof KINDS)[keyof typeof KINDS] | 'policy',
  { id, version }: Named,
): Accepted {
  if (outcome !== 'conflict') return { isNew: outcome === 'inserted', isConfirmed };
  const places = differs.slice(0, MOST_PLACES);
  const more = differs.length > places.length ? ` and ${differs.length - places.length} more` : '';
  const way = isConfirmed ? 'give it a new version' : 'give it a new version, or let a member register this one';
  const message = `${kind} ${id}@${version} is registered with other content (${places.join(', ')}${more}), and versions are immutable: ${way}`;
  const errors = places.map((path) => ({ path, message: `differs from what is registered as ${id}@${version}` }));
  throw new PlatformError('CONFLICT', message, { errors });
}

/** Header with what is worth knowing of a registration that was accepted; several are separated by `; `. */
const WARNING_HEADER = 'x-everdict-warning';

/** 201 for what is new, 200 for what was there already. */
export function answerRegistration(
  reply: FastifyReply,
  { isNew, isConfirmed }: Accepted,
  folder: SpecFolder,
  { id, version }: Named,
): void {
  reply.status(isNew ? 201 : 200);
  reply.header('location', `/${folder}/${id}/versions/${encodeURIComponent(version)}`);
  if (!isConfirmed) {
    addWarnings(reply, [
      `${KINDS[folder]} ${id}@${version} is unconfirmed: nothing uses it until a member confirms it or names it with its version`,
    ]);
  }
}

/** Adds to what the answer says already. */
export function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  const said = [reply.getHeader(WARNING_HEADER) ?? [], warnings].flat();
  if (said.length > 0) reply.header(WARNING_HEADER, said.join('; '));
}

export function notFound(kind: string, name: string): PlatformError {
  return new PlatformError('NOT_FOUND', `there is no ${kind} ${name}`);
}

/** `latest` is a way to ask for the highest version. */
export const refOf = (id: string, version: string): string => (version === 'latest' ? id : `${id}@${version}`);
