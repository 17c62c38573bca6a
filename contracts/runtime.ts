import { z } from 'zod';
import { SpecId, SpecVersion } from './ids.js';
import { SecretName } from './secret.js';
import { untrusted } from './untrusted.js';

export const RuntimeKind = z.enum(['local', 'nomad', 'k8s']);
export type RuntimeKind = z.infer<typeof RuntimeKind>;

export const Capability = z.enum([
  'git',
  'docker',
  'browser',
  'computer-use',
  'topology',
  'os-windows',
  'os-macos',
  'gpu',
  'sandbox',
]);
export type Capability = z.infer<typeof Capability>;

export const Tags = untrusted('user', z.array(z.string().min(1).max(63)).max(20, 'has more than 20 tags').default([]));
export const Description = untrusted('user', z.string().max(2_000));

const count = (max: number) => z.int().min(1).max(max);
/** User information in a URL: specs name secrets, and hold none. */
const CREDENTIAL = /^[^:]*:\/*[^/?#]*@/;
export const HttpUrl = z
  .url({ protocol: /^https?$/, error: 'is not an http(s) URL' })
  .max(2_000)
  .refine((url) => !CREDENTIAL.test(url), 'holds a credential: name a secret instead');
export const ImageName = z.string().min(1).max(512).regex(/^\S+$/, 'has white space');
/** Where a cluster answers: scheme, host, port, and a path where something stands before it. */
const ClusterUrl = HttpUrl.refine(
  (url) => !/[?#\\\s\p{Cc}]/u.test(url),
  'is more than an address: give scheme, host, port and path',
);
const Label = untrusted('user', z.string().min(1).max(253));

/** Limits of a runtime. Absent `maxConcurrent`: nomad and k8s 20, local the CPU count of its host. */
const limits = {
  maxConcurrent: count(100_000).optional(),
  /** Cap on the sum of what running jobs declare, MB; a job that declares none is admitted outside it. */
  memoryBudgetMb: count(1_000_000_000).optional(),
  /** Cap on the sum of what running jobs declare, thousandths of a core. */
  cpuBudgetMillicores: count(1_000_000_000).optional(),
};

const base = {
  id: SpecId,
  version: SpecVersion,
  description: Description.optional(),
  tags: Tags,
  capabilities: z.array(Capability).max(20).optional(),
  ...limits,
};

/** What nomad and k8s share. Secrets are named, never held. */
const cluster = {
  ...base,
  /** How long a job may stay unplaced, seconds. */
  placementPatienceSec: count(86_400).default(120),
  namespace: Label.optional(),
  gpu: count(64).optional(),
  authSecret: SecretName.optional(),
  /** PEM of a private CA. */
  caCert: untrusted(
    'user',
    z.string().startsWith('-----BEGIN CERTIFICATE-----', 'is not a PEM certificate').max(65_536),
  ).optional(),
  traceSource: HttpUrl.optional(),
  browserImage: ImageName.optional(),
};

export const NOMAD_DRIVERS = ['docker', 'podman', 'exec', 'raw_exec'] as const;
const NOMAD_OPERATORS = [
  '=',
  '!=',
  '>',
  '>=',
  '<',
  '<=',
  'regexp',
  'set_contains',
  'set_contains_all',
  'set_contains_any',
  'version',
  'semver',
  'is_set',
  'is_not_set',
  'distinct_hosts',
  'distinct_property',
] as const;

const LocalRuntimeSpec = z.strictObject({ kind: z.literal('local'), ...base });

const NomadRuntimeSpec = z.strictObject({
  kind: z.literal('nomad'),
  ...cluster,
  addr: ClusterUrl,
  image: ImageName.optional(),
  driver: z.enum(NOMAD_DRIVERS).default('docker'),
  runtime: Label.optional(),
  /** Absent: that of the agent at `addr`. */
  region: Label.optional(),
  datacenters: z.array(Label).min(1).max(50).default(['*']),
  constraints: z
    .array(
      z.strictObject({
        attribute: untrusted('user', z.string().min(1).max(512)),
        operator: z.enum(NOMAD_OPERATORS).default('='),
        value: untrusted('user', z.string().max(512).default('')),
      }),
    )
    .max(50)
    .optional(),
  /** MHz of one core: a case declares CPU in millicores, Nomad places MHz. */
  cpuMhzPerCore: count(100_000).optional(),
});

const Toleration = z.strictObject({
  key: Label.optional(),
  operator: z.enum(['Exists', 'Equal']).optional(),
  value: untrusted('user', z.string().max(63)).optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().min(0).optional(),
});

const K8sRuntimeSpec = z.strictObject({
  kind: z.literal('k8s'),
  ...cluster,
  image: ImageName,
  context: Label.optional(),
  server: ClusterUrl.optional(),
  kubeconfigSecret: SecretName.optional(),
  runtimeClass: Label.optional(),
  nodeSelector: untrusted('user', z.record(Label, z.string().max(63))).optional(),
  tolerations: z.array(Toleration).max(50).optional(),
});

export type NomadRuntimeSpec = z.infer<typeof NomadRuntimeSpec>;
export type K8sRuntimeSpec = z.infer<typeof K8sRuntimeSpec>;

const RuntimeShape = z.discriminatedUnion('kind', [LocalRuntimeSpec, NomadRuntimeSpec, K8sRuntimeSpec]);
type RuntimeShape = z.infer<typeof RuntimeShape>;

interface CrossFieldFault {
  path: string;
  message: string;
}

function crossFieldFaults(spec: RuntimeShape): CrossFieldFault[] {
  const faults: CrossFieldFault[] = [];
  if (spec.id === 'auto') faults.push({ path: 'id', message: '`auto` is a way to ask, not an id' });
  if (spec.kind === 'local') return faults;
  if (spec.browserImage && !spec.traceSource) {
    faults.push({ path: 'browserImage', message: 'needs `traceSource`' });
  }
  if (spec.kind === 'k8s') {
    if (spec.authSecret && !spec.server) faults.push({ path: 'authSecret', message: 'needs `server`' });
    if (!spec.kubeconfigSecret && !spec.authSecret && !spec.context) {
      const message = 'no way to authenticate: give `kubeconfigSecret`, or `server` with `authSecret`, or `context`';
      faults.push({ path: '', message });
    }
  } else if (!spec.image && (spec.driver === 'docker' || spec.driver === 'podman')) {
    faults.push({ path: 'image', message: `is required with driver ${spec.driver}` });
  }
  return faults;
}

/** An immutable, versioned description of a runtime. */
export const RuntimeSpec = RuntimeShape.superRefine((spec, ctx) => {
  for (const { path, message } of crossFieldFaults(spec)) {
    ctx.addIssue({ code: 'custom', path: path ? [path] : [], message });
  }
});
export type RuntimeSpec = z.infer<typeof RuntimeSpec>;

/** A runtime's limits: slots and, where capped, the sums of declared memory and CPU. */
export const Envelope = z.strictObject({
  slots: z.int().min(0),
  memoryMb: z.int().min(1).optional(),
  cpuMillicores: z.int().min(1).optional(),
});
export type Envelope = z.infer<typeof Envelope>;
