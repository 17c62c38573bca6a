import { z } from 'zod';

/** What somebody is in one workspace. */
export const Role = z.enum(['viewer', 'member', 'admin', 'ci']);
export type Role = z.infer<typeof Role>;

/** What a key was made for: each includes the one before. */
export const Scope = z.enum(['read', 'write', 'admin']);
export type Scope = z.infer<typeof Scope>;

/**
 * What a route asks for.
 * `register`: runtimes and harnesses are registered, validated and probed. `run`: work is submitted. `stop`: work is
 * cancelled or retried. `curate`: datasets, what is said of registered versions, outcomes that are decided by hand.
 * `administer`: secrets, keys, members, the audit trail. `operate`: the deployment itself.
 */
export const Permission = z.enum(['read', 'register', 'run', 'stop', 'curate', 'administer', 'operate']);
export type Permission = z.infer<typeof Permission>;
