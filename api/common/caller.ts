import { createParamDecorator } from '@nestjs/common';
import type { Rights } from '../../policy/permissions.js';

/** On whose behalf a request acts. */
export interface Principal extends Rights {
  workspace: string;
  /** Who it is, for the record. */
  subject: string;
}

/** There is one workspace, for everyone who can reach the loopback interface. */
const EVERYONE: Principal = { workspace: 'default', subject: 'local', role: 'admin', scope: 'admin' };

export const Caller = createParamDecorator((): Principal => EVERYONE);
