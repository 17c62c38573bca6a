import { z } from 'zod';
import { RuntimeKind } from './runtime.js';
import { untrusted } from './untrusted.js';

/** What registering a spec would meet, found without asking its cluster. */
export const Validation = z.discriminatedUnion('ok', [
  z.strictObject({
    ok: z.literal(true),
    kind: RuntimeKind,
    id: z.string(),
    version: z.string(),
    /** Versions of that id which the workspace sees, the highest first. */
    existingVersions: z.array(z.string()),
    versionExists: z.boolean(),
    /** Names in the spec that no secret of the workspace has yet. */
    missingSecrets: z.array(z.string()),
    warnings: untrusted('user', z.array(z.string())),
    /** `POST /runtimes` with it in `X-Everdict-Check` takes no other spec. */
    checkToken: z.string(),
  }),
  z.strictObject({
    ok: z.literal(false),
    errors: z.array(z.strictObject({ path: untrusted('user'), message: untrusted('user') })),
  }),
]);
export type Validation = z.infer<typeof Validation>;
