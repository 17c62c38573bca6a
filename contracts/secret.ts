import { z } from 'zod';

export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/,
    'is not a secret name: 1 to 128 of A-Z a-z 0-9 _ . - that begin with a letter',
  );

/** What a secret is for, which decides where it may go. */
export const SecretUse = z.enum(['cluster', 'registry', 'git', 'env']);
export type SecretUse = z.infer<typeof SecretUse>;

/** Largest value of a secret, bytes of UTF-8. */
export const SECRET_BYTES = 65_536;

const FORM = 'is not text';
/** Says what is wrong without repeating any of it. */
const SecretValue = z
  .string({ error: FORM })
  .min(1, 'is empty')
  .refine(
    (value) => new TextEncoder().encode(value).length <= SECRET_BYTES,
    `is longer than the allowed ${SECRET_BYTES} bytes`,
  )
  .refine((value) => !value.includes('\0'), 'has a NUL character, which no variable or header can carry');

/** What is sent as a user and a password. */
const OneLine = SecretValue.refine(
  (value) => !/[\r\n]/.test(value),
  'has a line break: it is `user:password` or a token',
);

const bindings = (what: string) =>
  z.array(z.string().min(1).max(2_000)).min(1, `is empty: name the ${what} that the value may be sent to`).max(50);

/** A secret as it is written; it is never read back. */
export const SecretInput = z.discriminatedUnion(
  'use',
  [
    z.strictObject({ use: z.literal('cluster'), value: SecretValue, origins: bindings('origins') }),
    z.strictObject({ use: z.literal('registry'), value: OneLine, hosts: bindings('hosts') }),
    z.strictObject({ use: z.literal('git'), value: OneLine, hosts: bindings('hosts') }),
    z.strictObject({ use: z.literal('env'), value: SecretValue }),
  ],
  { error: `is not one of ${SecretUse.options.join(', ')}` },
);
export type SecretInput = z.infer<typeof SecretInput>;

/** What is told of a secret. */
export const SecretView = z.strictObject({
  name: SecretName,
  use: SecretUse,
  /** Of a `cluster` secret. */
  origins: z.array(z.string()).optional(),
  /** Of a `registry` or `git` secret. */
  hosts: z.array(z.string()).optional(),
  updatedBy: z.string(),
  updatedAt: z.iso.datetime(),
});
export type SecretView = z.infer<typeof SecretView>;

/** What became of a value that was set. */
export const SecretStored = z.strictObject({ ...SecretView.shape, warnings: z.array(z.string()) });
export type SecretStored = z.infer<typeof SecretStored>;

/** What became of sealing everything anew. */
export const Rotation = z.strictObject({
  /** Id of the key that seals now. */
  key: z.string(),
  /** Secrets that were sealed with another key. */
  resealed: z.int(),
  /** Secrets that do not open, and stay as they are. */
  unreadable: z.array(z.strictObject({ workspace: z.string(), name: z.string(), reason: z.string() })),
  /** Keys that no secret needs any more. */
  unneeded: z.array(z.string()),
});
export type Rotation = z.infer<typeof Rotation>;
