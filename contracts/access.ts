import { z } from 'zod';
import { Role, Scope } from './identity.js';
import { WorkspaceId } from './ids.js';
import { line } from './text.js';
import { untrusted } from './untrusted.js';

const MAX_KEY_YEARS = 10;
const YEAR_MS = 365 * 86_400_000;
const moment = z.iso.datetime().nullable();

/** A key is named by its id; the value is shown once. */
export const KeyId = z.string().regex(/^[0-9a-hjkmnp-tv-z]{12}$/, 'is not a key id: 12 characters, as in `key list`');
export type KeyId = z.infer<typeof KeyId>;

export const KeyRequest = z.strictObject({
  name: line(100).describe('What it is for'),
  role: Role,
  scope: Scope.default('admin').describe('What of the role it reaches; `admin` is all of it'),
  expiresAt: z.iso
    .datetime({ offset: true, error: 'is not a time as 2027-01-31T00:00:00Z' })
    .refine((time) => Date.parse(time) > Date.now(), 'is over already')
    .refine(
      (time) => Date.parse(time) < Date.now() + MAX_KEY_YEARS * YEAR_MS,
      `is more than ${MAX_KEY_YEARS} years away: leave it out for a key that does not expire`,
    )
    .optional(),
});
export type KeyRequest = z.infer<typeof KeyRequest>;

export const KeyView = z.strictObject({
  id: KeyId,
  name: untrusted('user'),
  role: Role,
  scope: Scope,
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: moment,
  lastUsedAt: moment.describe('Within a minute'),
  revokedAt: moment,
});
export type KeyView = z.infer<typeof KeyView>;

export const NewKey = KeyView.extend({ value: z.string().describe('Shown now and never again') });
export type NewKey = z.infer<typeof NewKey>;

export const RevokedKey = KeyView.extend({
  stillValid: z.array(KeyId).describe('Keys that were made with it and still work'),
});
export type RevokedKey = z.infer<typeof RevokedKey>;

const EMAIL = /^[^\s@:/]{1,64}@[^\s@:/]{1,190}\.[^\s@:/.]{1,63}$/;
const SUBJECT = /^(key:[0-9a-hjkmnp-tv-z]{12}|oidc:[a-z0-9.-]{1,253}(:\d{1,5})?:[^\p{Cc}\p{Surrogate}]{1,255})$/u;

export const isEmail = (subject: string): boolean => EMAIL.test(subject);

/** Who may be a member: a key of another workspace, a person by the subject of their tokens, or by e-mail address. */
export const MemberSubject = z
  .string()
  .transform((subject) => (isEmail(subject) ? subject.toLowerCase() : subject))
  .refine(
    (subject) => isEmail(subject) || SUBJECT.test(subject),
    'is not `oidc:<issuer host>:<sub>`, an e-mail address or `key:<id>`; `everdict whoami` shows what somebody is. ' +
      'A repository becomes CI by POST /ci-bindings',
  );

export const Invitation = z.strictObject({ subject: MemberSubject, role: Role });
export type Invitation = z.infer<typeof Invitation>;

export const RoleChange = z.strictObject({ role: Role });
export type RoleChange = z.infer<typeof RoleChange>;

export const MemberView = z.strictObject({
  subject: z.string(),
  role: Role,
  email: z.string().nullable().describe('The address the invitation was for'),
  invitedBy: z.string(),
  createdAt: z.iso.datetime(),
});
export type MemberView = z.infer<typeof MemberView>;

export const ChangedMember = MemberView.extend({
  revokedKeys: z
    .array(KeyId)
    .describe('Keys that were revoked with it: made by the member, and stronger than it is now'),
});
export type ChangedMember = z.infer<typeof ChangedMember>;

export const WorkspaceRequest = z.strictObject({ id: WorkspaceId });
export type WorkspaceRequest = z.infer<typeof WorkspaceRequest>;

export const WorkspaceView = z.strictObject({
  id: z.string(),
  role: z.enum([...Role.options, 'operator']).describe('What the caller is in it'),
});
export type WorkspaceView = z.infer<typeof WorkspaceView>;

export const CiBindingRequest = z.strictObject({
  repository: z
    .string()
    .regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/, 'is not owner/name of a GitHub repository')
    .transform((repository) => repository.toLowerCase()),
  ref: line(255).startsWith('refs/', 'is a full ref, as refs/heads/main').optional().describe('Only runs on this ref'),
  environment: line(255).optional().describe('Only jobs of this environment'),
});
export type CiBindingRequest = z.infer<typeof CiBindingRequest>;

export const CiBindingId = z.string().regex(/^[0-9a-hjkmnp-tv-z]{12}$/, 'is not the id of a binding');
export type CiBindingId = z.infer<typeof CiBindingId>;

export const CiBindingView = z.strictObject({
  id: CiBindingId,
  repository: z.string(),
  ref: untrusted('user').nullable(),
  environment: untrusted('user').nullable(),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
});
export type CiBindingView = z.infer<typeof CiBindingView>;

/** Who the platform takes the caller for. */
export const WhoAmI = z.strictObject({
  subject: z.string(),
  mode: z.enum(['dev', 'authenticated']).describe('`dev`: nobody is asked who they are'),
  scope: Scope,
  isOperator: z.boolean(),
  workspace: z.string().nullable().describe('The one that is acted in, if that is clear'),
  role: z.enum([...Role.options, 'operator']).nullable(),
  workspaces: z.array(WorkspaceView),
  expiresAt: moment,
  temporalUi: z
    .string()
    .nullable()
    .describe('Where workflows are looked at: with the id of one behind it, as `case:` and a run, it is a link'),
});
export type WhoAmI = z.infer<typeof WhoAmI>;
