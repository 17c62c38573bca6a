import { z } from 'zod';
import { SpecId, SpecVersion } from './ids.js';
import { RuntimeKind } from './runtime.js';
import { untrusted } from './untrusted.js';

/**
 * Why a cluster is of no use as it is described. `auth`: it answers and does not accept us. `unreachable`: nothing
 * answers in time. `error`: something answers that is no such cluster, or one in trouble. `refused`: we do not ask it.
 */
export const ProbeReason = z.enum(['auth', 'unreachable', 'error', 'refused']);
export type ProbeReason = z.infer<typeof ProbeReason>;

/** What a probe found. `detail` is in our words: short, on one line, and nothing of what a stranger answered. */
export interface ProbeAnswer {
  reachable: boolean;
  detail: string;
  /** Absent on success. */
  reason?: ProbeReason;
}

export const ProbeReport = z.strictObject({
  kind: RuntimeKind,
  reachable: z.boolean(),
  detail: untrusted('cluster'),
  reason: ProbeReason.optional(),
  latencyMs: z.int().min(0),
  /** Given on success: `POST /runtimes` with it in `X-Everdict-Check` takes no other spec. */
  checkToken: z.string().optional(),
});
export type ProbeReport = z.infer<typeof ProbeReport>;

/** Amounts of what jobs use. Nomad counts CPU in MHz, Kubernetes in thousandths of a core. */
const Amounts = z.strictObject({
  cpuMhz: z.number().optional(),
  cpuMillicores: z.number().optional(),
  memoryMb: z.number().optional(),
  gpus: z.number().optional(),
});
export type Amounts = z.infer<typeof Amounts>;

const InspectedNode = z.strictObject({
  name: untrusted('cluster'),
  /** In the cluster's word: `ready`, `down`, `NotReady`. */
  status: untrusted('cluster'),
  /** Whether new work may be placed on it. */
  schedulable: z.boolean(),
  /** What tells it from others: datacenter, pool, class, version. */
  labels: untrusted('cluster', z.record(z.string(), z.string())),
  /** Ways to run a job that work there, as `docker`. */
  drivers: untrusted('cluster', z.array(z.string())).optional(),
  capacity: Amounts,
  /** Of the capacity, what pods may take. */
  allocatable: Amounts.optional(),
  allocated: Amounts.optional(),
  /** What keeps pods away that do not tolerate it, as `key=value:NoSchedule`. */
  taints: untrusted('cluster', z.array(z.string())).optional(),
  /** What it runs out of, as `MemoryPressure`. */
  pressure: untrusted('cluster', z.array(z.string())).optional(),
  /** Jobs that run on it, whoever's. */
  running: z.int().min(0).optional(),
});
export type InspectedNode = z.infer<typeof InspectedNode>;

/** One limit of a namespace for all that is in it, in the cluster's notation. */
const InspectedQuota = z.strictObject({
  name: untrusted('cluster'),
  resource: untrusted('cluster'),
  hard: untrusted('cluster'),
  used: untrusted('cluster').optional(),
});

/** What one container or pod of a namespace may ask for, in the cluster's notation. */
const InspectedLimit = z.strictObject({
  name: untrusted('cluster'),
  type: untrusted('cluster'),
  resource: untrusted('cluster'),
  min: untrusted('cluster').optional(),
  max: untrusted('cluster').optional(),
  default: untrusted('cluster').optional(),
});

const Existence = z.strictObject({ name: untrusted('user'), exists: z.boolean() });

/** A read-only view of a cluster. What could not be read is absent, and a warning says so. */
export const Inspection = z.strictObject({
  kind: RuntimeKind,
  /** What it is and its version, as `Nomad 1.6.1`. */
  cluster: untrusted('cluster'),
  nodes: z.array(InspectedNode).optional(),
  /** Set where `nodes` holds the first ones only: how many there are. */
  nodeCount: z.int().min(0).optional(),
  capacity: Amounts.optional(),
  allocatable: Amounts.optional(),
  allocated: Amounts.optional(),
  running: z.int().min(0).optional(),
  /** The jobs of this deployment that are not over. */
  ours: z.int().min(0).optional(),
  datacenters: untrusted('cluster', z.array(z.string())).optional(),
  namespace: Existence.optional(),
  quotas: z.array(InspectedQuota).optional(),
  limits: z.array(InspectedLimit).optional(),
  runtimeClass: Existence.optional(),
  /** What the credential in use may do there, each in the cluster's words. */
  permissions: z.array(z.strictObject({ action: untrusted('cluster'), allowed: z.boolean() })).optional(),
  warnings: untrusted('cluster', z.array(z.string())),
});
export type Inspection = z.infer<typeof Inspection>;

export const InspectionReport = z.strictObject({
  id: SpecId,
  version: SpecVersion,
  ...Inspection.shape,
  latencyMs: z.int().min(0),
});
export type InspectionReport = z.infer<typeof InspectionReport>;
