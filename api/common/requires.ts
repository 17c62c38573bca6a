import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { Permission } from '../../contracts/identity.js';

/** What a route asks of its callers. */
export interface AccessRule {
  /** `public`: nothing, it answers anyone. */
  permission: Permission | 'public';
  /** It acts in no workspace: the caller need not say which one is meant, and may be in none. */
  isAnywhere?: boolean;
  /** It answers anyone where the operator opened the metrics. */
  isMetrics?: boolean;
  /** Path of an OAuth resource: who may not use it is told where its metadata are. */
  resource?: string;
}

type Where = Omit<AccessRule, 'permission'>;

/** What a caller needs to be allowed to use a route. Every route says this, or that it is public. */
export const Requires = (permission: Permission, where: Where = {}): MethodDecorator =>
  RouteConfig({ access: { permission, ...where } satisfies AccessRule });

/** A route that answers anyone. */
export const Public = (): MethodDecorator => RouteConfig({ access: { permission: 'public' } satisfies AccessRule });

/** What the handler of a route declares. */
export function accessRuleOf(handler: object): AccessRule {
  const config: { access?: AccessRule } | undefined = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler);
  if (!config?.access) throw new Error('a route does not say what it takes to use it');
  return config.access;
}
