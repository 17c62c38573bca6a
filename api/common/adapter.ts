import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { JsonLog } from '../../config/log.js';
import { isLoopbackHost, isOwnOrigin } from '../../config/loopback.js';
import { PlatformError } from '../../contracts/errors.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import { addBodyParsers, BODY_LIMIT } from './body-parsers.js';
import { sendProblem } from './problem.filter.js';
import { PROBLEM_TYPE, toProblem } from './problem.js';

/** The HTTP server with all that holds for every request, also for those that reach no route. */
export function createAdapter(log: JsonLog, metrics: HttpMetrics): FastifyAdapter {
  const options: FastifyServerOptions = {
    bodyLimit: BODY_LIMIT,
    requestIdHeader: false,
    genReqId: ({ headers }) => ownRequestId(headers['x-request-id']),
    routerOptions: { maxParamLength: 1_024 },
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, log),
    clientErrorHandler: refuseConnection,
  };
  const adapter = new FastifyAdapter(options);
  const server = adapter.getInstance<FastifyInstance>();
  addBodyParsers(server);
  addHooks(server, log, metrics);
  endConnectionsOnClose(server);
  return adapter;
}

/** A caller's own id is kept if it is safe to print. */
function ownRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.-]{1,64}$/.test(header) ? header : randomUUID();
}

function addHooks(server: FastifyInstance, log: JsonLog, metrics: HttpMetrics): void {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    const { host, origin } = request.headers;
    if (!isLoopbackHost(host)) {
      const message = 'only requests to a loopback host name are answered: use http://localhost or http://127.0.0.1';
      throw new PlatformError('FORBIDDEN', message);
    }
    if (!isOwnOrigin(origin, host)) {
      throw new PlatformError('FORBIDDEN', 'requests from web pages of another origin are not answered');
    }
  });
  server.addHook('onResponse', async (request, reply) => {
    metrics.observe(request, reply);
    log.info('request', {
      requestId: request.id,
      method: request.method,
      path: request.url.split('?')[0],
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
    });
  });
}

/**
 * Two kinds of connections would hold the server open for a minute while it closes: a kept-alive one whose request is
 * still answered, and one that is open in advance and never sent a request, as browsers and clients have them.
 */
function endConnectionsOnClose(server: FastifyInstance): void {
  let isClosing = false;
  const unused = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.addHook('onRequest', async ({ raw: { socket } }) => {
    unused.delete(socket);
  });
  server.addHook('preClose', async () => {
    isClosing = true;
    for (const socket of unused) socket.destroy();
  });
  server.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
}

/** Answers what is not HTTP at all. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  const cause = Object.assign(new Error('the request is not valid HTTP'), { statusCode: status });
  const problem = toProblem(cause, randomUUID());
  const body = JSON.stringify(problem);
  const head = `HTTP/1.1 ${status} ${problem.title}\r\nContent-Type: ${PROBLEM_TYPE}\r\nConnection: close`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
