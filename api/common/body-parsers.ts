import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type FieldError, PlatformError } from '../../contracts/errors.js';
import { jsonPlace } from '../../contracts/json-place.js';

/** Largest body of a request, bytes. */
export const BODY_LIMIT = 10 * 1024 * 1024;

/** A body of one JSON value a line, not read yet: as large as its reader allows. */
export class JsonLines {
  constructor(readonly body: IncomingMessage) {}
}

/** What came in place of JSON, for a route that answers this itself. */
export class Malformed {
  constructor(readonly errors: readonly FieldError[]) {}
}

export const JSON_LINES_TYPES = ['application/x-ndjson', 'application/jsonl', 'application/json-lines', 'text/plain'];

/** By its `Content-Type`. */
export const isJsonLines = (type: string): boolean =>
  JSON_LINES_TYPES.includes(type.split(';')[0]?.trim().toLowerCase() ?? '');

/** Bodies are JSON, or lines of it. Parsing keeps every key, `__proto__` too, so that validation can name it. */
export function addBodyParsers(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, parseJson);
  server.addContentTypeParser(JSON_LINES_TYPES, async (request: FastifyRequest, body: IncomingMessage) => {
    if (request.routeOptions.config.takes === 'lines') return new JsonLines(body);
    throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'lines are taken for datasets only: send application/json');
  });
  server.addContentTypeParser('*', (request, _payload, done) => {
    const type = request.headers['content-type'] ?? 'no content type';
    const message = `${type} is not taken: send application/json, or a dataset as application/x-ndjson`;
    done(new PlatformError('UNSUPPORTED_MEDIA_TYPE', message));
  });
}

async function parseJson(request: FastifyRequest, body: Buffer | string): Promise<unknown> {
  if (body.length === 0) return undefined;
  try {
    const text = decodeUtf8(body);
    return parsed(text);
  } catch (error) {
    if (request.routeOptions.config.takes !== 'junk' || !(error instanceof PlatformError)) throw error;
    return new Malformed(error.details.errors ?? [{ path: '', message: error.message }]);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformedJson(text, error);
  }
}

function decodeUtf8(body: Buffer | string): string {
  try {
    return typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new PlatformError('BAD_REQUEST', 'the body is not valid UTF-8', {}, { cause });
  }
}

function malformedJson(text: string, cause: unknown): PlatformError {
  const why = jsonFault(text, cause);
  const errors = [{ path: '', message: why }];
  return new PlatformError('BAD_REQUEST', `the body is not valid JSON: ${why}`, { errors }, { cause });
}

/** What `JSON.parse` did not like and where, without repeating the text, which begins in line `firstLine`. */
export function jsonFault(text: string, error: unknown, firstLine = 1): string {
  const message = error instanceof Error ? error.message : String(error);
  const what = message.replace(/,? *(in JSON )?at position.*$/s, '').replace(/, ?(\.\.\.)?".*$/s, '');
  return `${what} at ${jsonPlace(text, firstLine)}`;
}
