import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';

/** `junk`: a body that is no JSON, given as `Malformed`. `lines`: one JSON value a line, given as `JsonLines`. */
type Body = 'junk' | 'lines';

declare module 'fastify' {
  interface FastifyContextConfig {
    takes?: Body;
  }
}

/** A route that reads other bodies than JSON itself. Stands above what else configures it. */
export const Takes =
  (body: Body): MethodDecorator =>
  (target, key, descriptor) => {
    const handler = descriptor.value;
    const known: object =
      typeof handler === 'function' ? (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) : {};
    RouteConfig({ ...known, takes: body })(target, key, descriptor);
  };
