import type { ServerOptions } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isJsonLines } from './body-parsers.js';
import { incomplete } from './incoming.js';

export interface TimeLimits {
  /** The head of a request comes within this, or its connection ends. */
  headMs: number;
  /** How often that is looked at. */
  lookMs: number;
  /** A body that is read as a whole comes within this; one that is read line by line may take any time while it moves. */
  bodyMs: number;
  /** How often it is looked at whether the caller of a long answer may still have it. */
  answerMs: number;
}

export const TIME_LIMITS: TimeLimits = { headMs: 15_000, lookMs: 5_000, bodyMs: 120_000, answerMs: 15_000 };

/** Nothing else is limited: uploads and event streams go on for hours. */
export const serverTimes = ({ headMs, lookMs }: TimeLimits): ServerOptions => ({
  headersTimeout: headMs,
  requestTimeout: 0,
  connectionsCheckingInterval: lookMs,
});

/** Ends requests whose body comes too slowly to be meant. */
export function limitBodies(server: FastifyInstance, { bodyMs }: TimeLimits): void {
  server.addHook('preParsing', async (request, _reply, payload) => {
    const type = request.headers['content-type'];
    if (type === undefined || isJsonLines(type)) return;
    const timer = setTimeout(() => {
      // The connection stays open until the client was told why.
      payload.emit('error', incomplete(`it did not come within ${bodyMs / 1_000} s`));
    }, bodyMs);
    const stop = (): void => clearTimeout(timer);
    payload.once('end', stop).once('close', stop).once('error', stop);
  });
}
