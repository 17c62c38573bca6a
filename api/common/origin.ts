import type { FastifyRequest } from 'fastify';

/** Where a caller reached us, as it says itself, or as a proxy that is trusted says. */
export const originOf = ({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>): string =>
  `${protocol}://${host}`;
