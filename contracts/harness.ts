import { z } from 'zod';
import { Resources } from './case.js';
import { SpecId, SpecVersion } from './ids.js';
import { Description, HttpUrl, ImageName, Tags } from './runtime.js';
import { SecretName } from './secret.js';
import { untrusted } from './untrusted.js';

const EnvName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'is not an environment variable name')
  .refine((name) => !name.startsWith('EVERDICT_'), 'is reserved: names that begin with EVERDICT_ are the platform’s');
const Script = untrusted('user', z.string().min(1).max(262_144));

/** Values that differ between scorecards; a job reads them as `EVERDICT_PARAM_<NAME>`. */
export const Params = z.record(
  z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, 'is not a parameter name'),
  z.union([z.string(), z.number(), z.boolean()]),
);
export type Params = z.infer<typeof Params>;

/** Where a live pool says how many sessions it has, and where in its answer. */
export const SessionCapacity = z.strictObject({
  poll: HttpUrl,
  total: untrusted('user', z.string().min(1).max(512)),
  used: untrusted('user', z.string().min(1).max(512)).optional(),
});
export type SessionCapacity = z.infer<typeof SessionCapacity>;

/** A live pool the harness takes a session from; admission follows what its endpoint reports. */
const Acquire = z.strictObject({ capacity: SessionCapacity });

const base = {
  id: SpecId,
  version: SpecVersion,
  description: Description.optional(),
  tags: Tags,
  image: ImageName.optional(),
  resources: Resources.optional(),
  env: untrusted(
    'user',
    z.record(EnvName, z.union([z.string(), z.strictObject({ secretRef: SecretName })])).default({}),
  ),
  params: untrusted('user', Params.default({})),
  model: untrusted('user', z.string().min(1).max(255)).optional(),
  acquire: Acquire.optional(),
};

/** `setup` and `command` are plain sh; nothing is substituted into them. */
const CommandHarnessSpec = z.strictObject({
  kind: z.literal('command'),
  ...base,
  /** Where the command runs; relative to the job's own directory. */
  workDir: untrusted(
    'user',
    z
      .string()
      .min(1)
      .max(512)
      .regex(/^\P{Cc}*$/u, 'has a control character'),
  ).optional(),
  setup: z.array(Script).max(50).default([]),
  command: Script,
});

/** Needs no shell: is given the path of the payload as its last argument, and prints the result record itself. */
const ProcessHarnessSpec = z.strictObject({
  kind: z.literal('process'),
  ...base,
  entrypoint: untrusted('user', z.array(z.string().min(1).max(65_536)).min(1).max(100)),
});

/** A topology of services. */
const ServiceHarnessSpec = z.strictObject({ kind: z.literal('service'), ...base });

/** The program under test. */
export const HarnessSpec = z.discriminatedUnion('kind', [CommandHarnessSpec, ProcessHarnessSpec, ServiceHarnessSpec]);
export type HarnessSpec = z.infer<typeof HarnessSpec>;
