import { randomUUID } from 'node:crypto';
import { maxHeaderSize, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { JsonLog } from '../../config/log.js';
import { isLoopbackHost, isOwnOrigin } from '../../config/loopback.js';
import { withRequestId } from '../../config/request-context.js';
import { PlatformError } from '../../contracts/errors.js';
import type { Gate } from '../identity/access.js';
import { watchLongAnswers } from '../identity/long-answers.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import { addBodyParsers, BODY_LIMIT } from './body-parsers.js';
import { sendProblem } from './problem.filter.js';
import { PROBLEM_TYPE, toProblem } from './problem.js';
import { limitRequests } from './request-rate.js';
import type { AccessRule } from './requires.js';
import { SAFE_HEADERS, setSafeHeaders } from './safe-headers.js';
import { limitBodies, serverTimes, TIME_LIMITS, type TimeLimits } from './time-limits.js';

interface AdapterParts {
  log: JsonLog;
  metrics: HttpMetrics;
  access: Gate;
  trustedProxies: readonly string[];
  /** Of one workspace; see `limitRequests`. */
  requestsPerSec?: number;
  times?: TimeLimits;
}

/** The HTTP server with all that holds for every request, also for those that reach no route. */
export function createAdapter({
  log,
  metrics,
  access,
  trustedProxies,
  requestsPerSec,
  times = TIME_LIMITS,
}: AdapterParts): FastifyAdapter {
  const options: FastifyHttpOptions<Server> = {
    bodyLimit: BODY_LIMIT,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    requestIdHeader: false,
    genReqId: ({ headers }) => ownRequestId(headers['x-request-id']),
    routerOptions: { maxParamLength: 1_024 },
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, log),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, log),
    http: serverTimes(times),
  };
  const adapter = new FastifyAdapter(options);
  const server = adapter.getInstance<FastifyInstance>();
  addBodyParsers(server);
  addHooks(server, log, metrics, access.mode);
  guard(server, access);
  watchLongAnswers(server, access, times.answerMs);
  limitRequests(server, requestsPerSec);
  limitBodies(server, times);
  endConnectionsOnClose(server);
  return adapter;
}

/** A caller's own id is kept if it is safe to print. */
function ownRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.-]{1,64}$/.test(header) ? header : randomUUID();
}

function addHooks(server: FastifyInstance, log: JsonLog, metrics: HttpMetrics, mode: Gate['mode']): void {
  server.addHook('onRequest', (request, _reply, done) => withRequestId(request.id, done));
  server.addHook('onRequest', async (request, reply) => {
    setSafeHeaders(request, reply);
    const { host, origin } = request.headers;
    if (!mode.isOn) reply.header('x-everdict-mode', 'dev');
    if (!mode.isOn && !isLoopbackHost(host)) {
      const message =
        'authentication is off, and without it only requests to a loopback host name are answered: ' +
        'use http://localhost or http://127.0.0.1';
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
      ...(request.identity && { subject: request.identity.subject, workspace: request.principal?.workspace }),
    });
  });
}

const ADMINISTRATIVE: readonly AccessRule['permission'][] = ['administer', 'operate'];
const HELD_MS = 1_000;

/** No route without a rule, and no request past it. */
function guard(server: FastifyInstance, access: Gate): void {
  server.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.access) throw new Error(`the route ${method} ${url} does not say what it takes to use it`);
  });
  server.addHook('onRequest', async (request) => {
    const { access: rule } = request.routeOptions.config;
    if (rule) await access.admit(request, rule);
  });
  // A body may take its time, and its sender be removed meanwhile.
  server.addHook('preHandler', async (request, reply) => {
    const { access: rule } = request.routeOptions.config;
    if (rule && request.method !== 'GET' && (ADMINISTRATIVE.includes(rule.permission) || reply.elapsedTime > HELD_MS)) {
      await access.admit(request, rule);
    }
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

interface ClientError extends Error {
  code?: string;
}

/** Answers what is not HTTP at all, or never becomes it. */
function refuseConnection(error: ClientError, socket: Socket, log: JsonLog): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, why] = whyNotHttp(error);
  const requestId = randomUUID();
  const problem = toProblem(Object.assign(new Error(why), { statusCode: status }), requestId);
  log.info('request', { requestId, status, source: socket.remoteAddress, detail: why });
  const body = JSON.stringify(problem);
  const headers = {
    ...SAFE_HEADERS,
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${problem.title}\r\n${lines.join('')}\r\n${body}`);
}

function whyNotHttp({ code }: ClientError): [status: number, why: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, `the URL and the headers have more than ${maxHeaderSize} bytes`];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the head of the request did not come in time'];
  return [400, 'the request is not valid HTTP'];
}
