import type { IncomingMessage } from 'node:http';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  HttpStatus,
  NotFoundException,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JsonLog } from '../../config/log.js';
import { PlatformError } from '../../contracts/errors.js';
import { BODY_LIMIT } from './body-parsers.js';
import { originOf } from './origin.js';
import { PROBLEM_TYPE, toProblem } from './problem.js';
import { noteRefusal } from './refusals.js';
import { setSafeHeaders } from './safe-headers.js';

/** Turns every error into a problem document. The only place that maps errors to HTTP. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly log: JsonLog) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendProblem(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), this.log);
  }
}

const DISCARD_MS = 5_000;

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, log: JsonLog): void {
  const problem = toProblem(named(error, request), request.id);
  noteRefusal(request, problem.code);
  if (problem.status >= 500 && !isExpected(error)) {
    log.error('request failed', { requestId: request.id, code: problem.code, error });
  }
  if (reply.sent) return;
  setSafeHeaders(request, reply);
  if (error instanceof PlatformError) addDetails(request, reply, error.details);
  reply.status(problem.status).type(PROBLEM_TYPE);
  // What is still to come of that request is no other one.
  if (problem.status === HttpStatus.REQUEST_TIMEOUT) reply.header('connection', 'close');
  const send = () => void reply.send(JSON.stringify(problem));
  if (problem.status === HttpStatus.PAYLOAD_TOO_LARGE) afterBody(request.raw, send);
  else send();
}

function addDetails(request: FastifyRequest, reply: FastifyReply, details: PlatformError['details']): void {
  const { challenge, retryAfterSec } = details;
  if (retryAfterSec !== undefined) reply.header('retry-after', String(retryAfterSec));
  if (challenge === undefined) return;
  // A quoted string of a header has no quotes, and nothing but ASCII.
  const said = Object.entries({ ...challenge, ...metadataOf(request) }).map(
    ([name, text]) => `${name}="${text.replace(/[^ !#-[\]-~]/g, "'")}"`,
  );
  reply.header('www-authenticate', `Bearer ${['realm="everdict"', ...said].join(', ')}`);
}

/** Where a client finds out how to come by a token, RFC 9728. */
function metadataOf(request: FastifyRequest): Record<string, string> {
  const path = request.routeOptions.config.access?.resource;
  return path === undefined
    ? {}
    : { resource_metadata: `${originOf(request)}/.well-known/oauth-protected-resource${path}` };
}

/** A client that still writes when the connection is closed may never read why: its body is thrown away first. */
function afterBody(body: IncomingMessage, send: () => void): void {
  const timer = setTimeout(done, DISCARD_MS);
  body.once('close', done).once('end', done).resume();
  function done(): void {
    clearTimeout(timer);
    body.off('close', done).off('end', done);
    send();
  }
}

/** Ours, and caused by nothing but the state of things. */
const isExpected = (error: unknown): boolean => error instanceof PlatformError && error.cause === undefined;

/** Says more than the framework does: the method and path of no route, both sizes of a body that is too large. */
function named(error: unknown, { method, url, headers }: FastifyRequest): unknown {
  if (error instanceof NotFoundException) {
    return new PlatformError('NOT_FOUND', `there is no route ${method} ${url.split('?')[0]}; /docs lists all`);
  }
  if (error instanceof HttpException && error.getStatus() === HttpStatus.PAYLOAD_TOO_LARGE) {
    const size = headers['content-length'] ?? `more than ${BODY_LIMIT}`;
    return new PlatformError('BODY_TOO_LARGE', `the body has ${size} bytes; the limit is ${BODY_LIMIT}`);
  }
  return error;
}
