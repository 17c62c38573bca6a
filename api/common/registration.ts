import type { FastifyReply } from 'fastify';
import { PlatformError } from '../../contracts/errors.js';

/** A registered spec, by what names it. */
export interface Named {
  id: string;
  version: string;
}

/** What the spec kinds of the registry are called, in paths and in sentences. */
export const KINDS = { datasets: 'dataset', harnesses: 'harness', runtimes: 'runtime' } as const;

export type Registered = 'inserted' | 'unchanged';

/** Versions are immutable: the same content again is accepted, another one under the same version is refused. */
export function accepted(
  outcome: Registered | 'conflict',
  kind: (typeof KINDS)[keyof typeof KINDS],
  { id, version }: Named,
): Registered {
  if (outcome !== 'conflict') return outcome;
  const message = `${kind} ${id}@${version} is registered with other content, and versions are immutable: give it a new version`;
  throw new PlatformError('CONFLICT', message);
}

/** 201 for what is new, 200 for what was there already. */
export function answerRegistration(
  reply: FastifyReply,
  outcome: Registered,
  folder: keyof typeof KINDS,
  { id, version }: Named,
): void {
  reply.status(outcome === 'inserted' ? 201 : 200);
  reply.header('location', `/${folder}/${id}/versions/${encodeURIComponent(version)}`);
}

export function notFound(kind: string, name: string): PlatformError {
  return new PlatformError('NOT_FOUND', `there is no ${kind} ${name}`);
}

/** `latest` is a way to ask for the highest version. */
export const refOf = (id: string, version: string): string => (version === 'latest' ? id : `${id}@${version}`);
