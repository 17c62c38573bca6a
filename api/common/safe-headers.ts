import type { FastifyReply, FastifyRequest } from 'fastify';
import helmet from 'helmet';

/**
 * What keeps a browser from making anything of an answer but what it is: nothing is run, embedded or guessed. A page of
 * ours sets a policy of its own. HTTPS is the business of who ends it: a proxy sets Strict-Transport-Security.
 */
const guard = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  xFrameOptions: { action: 'deny' },
  strictTransportSecurity: false,
});

/** A route may set others in their place. */
export function setSafeHeaders(request: FastifyRequest, reply: FastifyReply): void {
  guard(request.raw, reply.raw, () => undefined);
  reply.header('x-request-id', request.id);
  reply.header('cache-control', 'no-store');
}

/** Of those, what an answer needs that no request led to. */
export const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
