import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Scope } from '../../contracts/identity.js';
import type { Rights } from '../../policy/permissions.js';
import type { Membership } from '../../store/member.store.js';
import type { AccessRule } from './requires.js';

/** Who a caller has proven to be, in all workspaces. */
export interface Identity {
  /** For the record: `key:<id>`, `oidc:<issuer host>:<sub>`, `github:<owner>/<name>`, `operator` or `local`. */
  subject: string;
  scope: Scope;
  isOperator: boolean;
  memberships: readonly Membership[];
  /** The workspace that is meant where none is named. Absent: the only one that the caller ever acted in. */
  home?: string;
  /** The API key that was used, if any. */
  keyId?: string;
  expiresAt?: Date;
}

/** On whose behalf a request acts. */
export interface Principal extends Rights {
  workspace: string;
  /** Who it is, for the record. */
  subject: string;
  /** The API key that was used, if any. */
  keyId?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: AccessRule;
  }
  interface FastifyRequest {
    /** Absent where nobody is asked. */
    identity?: Identity;
    /** Absent where a caller need not say in which workspace to act, and did not. */
    principal?: Principal;
  }
}

/** On whose behalf a request acts, as soon as that is known. */
export const principalOf = ({ principal }: FastifyRequest): Principal | undefined => principal;

const requestOf = (context: ExecutionContext): FastifyRequest => context.switchToHttp().getRequest<FastifyRequest>();

export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const principal = principalOf(requestOf(context));
  if (!principal) throw new Error('a route asks on whose behalf it acts, and declares no permission');
  return principal;
});

/** A caller of a route that acts in no workspace. */
export interface Visitor {
  identity: Identity;
  principal?: Principal;
}

export const Visiting = createParamDecorator((_data: unknown, context: ExecutionContext): Visitor => {
  const { identity, principal } = requestOf(context);
  if (!identity) throw new Error('a route asks who calls, and declares no permission');
  return { identity, principal };
});
