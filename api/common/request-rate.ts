import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PlatformError } from '../../contracts/errors.js';
import { Buckets } from './buckets.js';
import { principalOf } from './caller.js';

const DEFAULT_PER_SEC = 100;

/**
 * Holds the requests of a workspace to a rate, in this process, once it is known who asks and before a body is read.
 * `perSec`: what the operator set, 0 for none; unset, whoever needs no key is held to none. What only admins may has a
 * rate of its own, so that no key that floods the rest keeps them from revoking it.
 */
export function limitRequests(server: FastifyInstance, perSec: number | undefined): void {
  if (perSec === 0) return;
  const pace = { perSec: perSec ?? DEFAULT_PER_SEC, burst: 2 * (perSec ?? DEFAULT_PER_SEC) };
  const buckets = new Buckets(pace);
  server.addHook('preParsing', async (request, reply) => {
    const caller = principalOf(request);
    if (!caller || request.is404 || (perSec === undefined && caller.subject === 'local')) return;
    const { bucket, isTaken, waitMs } = buckets.take(
      isAdmins(request) ? `${caller.workspace} admins` : caller.workspace,
    );
    reply.header('ratelimit-limit', pace.burst);
    reply.header('ratelimit-remaining', Math.floor(bucket.tokens));
    reply.header('ratelimit-reset', Math.ceil((pace.burst - bucket.tokens) / pace.perSec));
    if (isTaken) return;
    const retryAfterSec = Math.max(1, Math.ceil(waitMs / 1_000));
    const message = `workspace ${caller.workspace} asks more than ${pace.perSec} times a second: try again in ${retryAfterSec} s`;
    throw new PlatformError('TOO_MANY_REQUESTS', message, { retryAfterSec });
  });
}

const isAdmins = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.access?.permission === 'administer';
