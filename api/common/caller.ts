import { createParamDecorator } from '@nestjs/common';

/** On whose behalf a request acts. */
export interface Principal {
  workspace: string;
  /** Who it is, for the record. */
  subject: string;
}

/** There is one workspace, for everyone who can reach the loopback interface. */
const EVERYONE: Principal = { workspace: 'default', subject: 'local' };

export const Caller = createParamDecorator((): Principal => EVERYONE);
