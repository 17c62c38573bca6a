import { createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Rights } from '../../policy/permissions.js';

/** On whose behalf a request acts. */
export interface Principal extends Rights {
  workspace: string;
  /** Who it is, for the record. */
  subject: string;
  /** The API key that was used, if any. */
  keyId?: string;
}

/** There is one workspace, for everyone who can reach the loopback interface. */
const EVERYONE: Principal = { workspace: 'default', subject: 'local', role: 'admin', scope: 'admin' };

/** Who a request is from, as soon as that is known. */
export const principalOf = (_request: FastifyRequest): Principal | undefined => EVERYONE;

export const Caller = createParamDecorator((): Principal => EVERYONE);
