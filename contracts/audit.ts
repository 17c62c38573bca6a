import { z } from 'zod';
import { Role } from './identity.js';
import { untrusted } from './untrusted.js';

/** One write, probe or control, and what came of it. It holds no value and no body, only hashes of content. */
export const AuditEvent = z.strictObject({
  /** Time-ordered. */
  id: z.string(),
  at: z.iso.datetime().describe('When it was answered'),
  subject: z.string().nullable().describe('Who; null: nobody who is known'),
  role: z.enum([...Role.options, 'operator']).nullable(),
  keyId: z.string().nullable().describe('The API key that was used'),
  action: z.string().describe('Resource and verb, as `runtimes.register`'),
  kind: z.string().describe('What kind of thing it was done to'),
  object: untrusted('user').nullable().describe('`id@version`, or what else names it'),
  source: z.string().describe('Address that the request came from'),
  requestId: z.string(),
  status: z.int().describe('HTTP status of the answer'),
  code: z.string().nullable().describe('Why it was refused'),
  before: z.string().nullable().describe('Hash of the content that was there'),
  after: z.string().nullable().describe('Hash of the content that is there now'),
});
export type AuditEvent = z.infer<typeof AuditEvent>;
