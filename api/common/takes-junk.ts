import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    takesJunk?: boolean;
  }
}

/** A route that answers a body which is no JSON itself, given as `Malformed`. Stands above what else configures it. */
export const TakesJunk = (): MethodDecorator => (target, key, descriptor) => {
  const handler = descriptor.value;
  const known: object =
    typeof handler === 'function' ? (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) : {};
  RouteConfig({ ...known, takesJunk: true })(target, key, descriptor);
};
