import { z } from 'zod';
import { DatasetSummary } from './dataset.js';
import { HarnessSpec } from './harness.js';
import { RuntimeSpec } from './runtime.js';
import { untrusted } from './untrusted.js';

/** What is registered, as the first part of a path names it. */
export type SpecFolder = 'datasets' | 'harnesses' | 'runtimes';

const Tag = z
  .string()
  .min(1, 'is empty')
  .max(63, 'is longer than 63 characters')
  .regex(/^(?=.*\S)\P{Cc}*$/u, 'is blank or has a control character');

/** Replaces the tags of a version; `[]` clears them. */
export const TagsRequest = z.strictObject({ tags: z.array(Tag).max(20, 'has more than 20 tags') });
export type TagsRequest = z.infer<typeof TagsRequest>;

export const DeprecationRequest = z.strictObject({
  reason: z.string().trim().min(1, 'says nothing').max(1_000).optional(),
});
export type DeprecationRequest = z.infer<typeof DeprecationRequest>;

/** What the registry says of a version. None of it is part of the content, which never changes. */
export const VersionRecord = z.strictObject({
  /** The workspace that registered it, or `_shared`. */
  owner: z.string(),
  /** At first those of the content. */
  tags: untrusted('user', z.array(z.string())),
  /** Whether its id alone means this version. */
  latest: z.boolean(),
  /** `false`: nothing uses it before a member confirms it or names it with its version. */
  confirmed: z.boolean(),
  confirmedBy: z.string().nullable(),
  confirmedAt: z.string().nullable(),
  deprecated: z.boolean(),
  deprecatedBy: z.string().nullable(),
  deprecatedReason: untrusted('user').nullable(),
  registeredBy: z.string(),
  createdAt: z.string(),
  contentHash: z.string(),
});
export type VersionRecord = z.infer<typeof VersionRecord>;

const listed = <Option extends z.ZodObject>(options: readonly Option[]) =>
  z.union(options.map((option) => option.extend(VersionRecord.shape)));

/** Registered versions as lists show them: the content with what is said of it. */
export const LISTED = {
  datasets: DatasetSummary.extend(VersionRecord.shape),
  harnesses: listed<z.ZodObject>(HarnessSpec.options),
  runtimes: listed<z.ZodObject>(RuntimeSpec.options),
} as const satisfies Record<SpecFolder, z.ZodType>;
