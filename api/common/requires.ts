import { SetMetadata } from '@nestjs/common';
import type { Permission } from '../../contracts/identity.js';

export const PERMISSION = 'everdict:permission';

/** What a caller needs to be allowed to use a route. Every route says this, or that it is public. */
export const Requires = (permission: Permission): MethodDecorator => SetMetadata(PERMISSION, permission);

/** A route that answers anyone. */
export const Public = (): MethodDecorator => SetMetadata(PERMISSION, 'public');
