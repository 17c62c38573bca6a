import type { FastifyRequest } from 'fastify';

const codes = new WeakMap<FastifyRequest, string>();

/** Keeps the code of a problem for who records the request. */
export const noteRefusal = (request: FastifyRequest, code: string): void => void codes.set(request, code);

export const refusalOf = (request: FastifyRequest): string | undefined => codes.get(request);
