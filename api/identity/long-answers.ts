import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PlatformError } from '../../contracts/errors.js';
import type { AccessRule } from '../common/requires.js';
import type { Gate } from './access.js';

/** What else may go wrong says nothing of the caller. */
const LEFT_OUT = ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'WORKSPACE_REQUIRED'];

/**
 * A stream or a download may go on for hours: while it does, its caller is asked for again, every `everyMs`. The
 * connection of one who may no longer have it is cut.
 */
export function watchLongAnswers(server: FastifyInstance, access: Pick<Gate, 'admit'>, everyMs: number): void {
  const open = new Map<FastifyReply, { request: FastifyRequest; rule: AccessRule; since: number }>();
  server.addHook('onRequest', async (request, reply) => {
    const { access: rule } = request.routeOptions.config;
    if (!rule || rule.permission === 'public' || request.method !== 'GET') return;
    open.set(reply, { request, rule, since: Date.now() });
    reply.raw.once('close', () => open.delete(reply));
  });
  const timer = setInterval(() => {
    const before = Date.now() - everyMs;
    for (const [reply, { request, rule, since }] of open) {
      if (since > before) continue;
      access.admit(request, rule).catch((error: unknown) => {
        if (error instanceof PlatformError && LEFT_OUT.includes(error.code)) reply.raw.destroy();
      });
    }
  }, everyMs);
  timer.unref();
  server.addHook('onClose', async () => clearInterval(timer));
}
