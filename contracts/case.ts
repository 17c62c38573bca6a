import { z } from 'zod';
import { Graders } from './grader.js';
import { CaseId, SpecRef } from './ids.js';
import { ImageName, Tags } from './runtime.js';
import { untrusted } from './untrusted.js';

/** What a case takes from the envelope, and what the cluster is asked for. */
export const Resources = z.strictObject({
  /** Thousandths of a core. */
  cpu: z.int().min(1).max(1_000_000).optional(),
  memoryMb: z.int().min(1).max(100_000_000).optional(),
  gpu: z.int().min(1).max(64).optional(),
});
export type Resources = z.infer<typeof Resources>;

const UNSAFE_SEGMENT = /(^|\/)(\.\.?)?(\/|$)/;

/** Path of a file below the work directory. */
const FilePath = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, 'has a control character')
  .refine((path) => !UNSAFE_SEGMENT.test(path), 'is not a relative path without `.`, `..` or empty segments');

export const FileContent = z.union([
  z.string(),
  z.strictObject({ hex: z.string().regex(/^([0-9a-fA-F]{2})*$/, 'is not hex, two digits a byte') }),
]);
export type FileContent = z.infer<typeof FileContent>;

const HTTP_CREDENTIAL = /^https?:\/\/[^/?#]*@/;

const FilesSource = z.strictObject({ files: z.record(FilePath, FileContent) });
const GitSource = z.strictObject({
  git: z
    .string()
    .max(2_000)
    .regex(/^(https?|ssh|git|file):\/\/[^\s]+$/, 'is not a git URL')
    .refine((url) => !HTTP_CREDENTIAL.test(url), 'holds a credential: register a secret for the host instead'),
  ref: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\s-][^\s]*$/, 'is not a branch, tag or commit'),
});

export const CaseEnv = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('prompt'), context: z.string().optional() }),
  z.strictObject({
    kind: z.literal('repo'),
    source: z.union([FilesSource, GitSource]),
    setup: z.array(z.string().min(1)).max(50).optional(),
  }),
  z.strictObject({
    kind: z.literal('browser'),
    startUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
  }),
  z.strictObject({
    kind: z.literal('os-use'),
    os: z.enum(['linux', 'windows', 'macos']).default('linux'),
    screen: z.strictObject({ width: z.int().min(320).max(7_680), height: z.int().min(240).max(4_320) }).optional(),
  }),
]);
export type CaseEnv = z.infer<typeof CaseEnv>;

/** What the job may reach on the network. Not declared: whatever the site gives. */
export const Network = z
  .strictObject({
    mode: z.enum(['public', 'none', 'allowlist']),
    allowedHosts: untrusted('user', z.array(z.string().min(1).max(253)).max(100)).optional(),
  })
  .refine(({ mode, allowedHosts }) => (mode === 'allowlist') === (allowedHosts !== undefined), {
    path: ['allowedHosts'],
    message: 'goes with mode `allowlist`, and only with it',
  });

const Placement = z.strictObject({
  /** The runtime this case runs on, where the scorecard names none. */
  target: SpecRef.optional(),
  os: z.enum(['linux', 'windows', 'macos']).optional(),
  isolation: z.enum(['none', 'sandbox']).optional(),
});

/** One thing to evaluate. */
export const EvalCase = z.strictObject({
  id: CaseId,
  task: untrusted('user'),
  env: untrusted('user', CaseEnv.default({ kind: 'prompt' })),
  /** A reference answer for readers; graders carry their own values. */
  expected: untrusted('user', z.json()).optional(),
  graders: untrusted('user', Graders.default([])),
  image: ImageName.optional(),
  timeoutSec: z.int().min(1).max(86_400).default(1_800),
  resources: Resources.optional(),
  network: Network.optional(),
  placement: Placement.optional(),
  tags: Tags,
});
export type EvalCase = z.infer<typeof EvalCase>;
