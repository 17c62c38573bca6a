import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SpecId, SpecVersion } from '../../contracts/ids.js';

const LONGEST = 600;

const Params = z.record(z.string(), z.string());
const Named = z.object({ id: SpecId, version: SpecVersion.optional() });

/** What a request names: by its path, or as the spec that it carries. A body says nothing else. */
export function namedByRequest({ params, body, query }: FastifyRequest): string | undefined {
  const { version, ...names } = Params.safeParse(params).data ?? {};
  const path = Object.values(names).join('/');
  if (path !== '') return version === undefined ? path : `${path}@${version}`;
  const spec = Named.safeParse(body).data ?? Named.safeParse(query).data;
  return spec && versioned(spec.id, spec.version);
}

/** What an answer made, by where it says that is. */
export function namedByLocation(location: string): string | undefined {
  const [, , id, ...rest] = location.split('/').map(decoded);
  if (id === undefined) return undefined;
  return rest[0] === 'versions' ? versioned(id, rest[1]) : id;
}

/** Without what Postgres cannot store, or a terminal would obey. */
export const storableName = (name: string | undefined): string | null =>
  name?.slice(0, LONGEST).replaceAll(/[\p{Cc}\p{Surrogate}]/gu, '?') ?? null;

const versioned = (id: string, version: string | undefined): string => (version ? `${id}@${version}` : id);

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
