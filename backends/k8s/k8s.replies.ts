import { z } from 'zod';

/** What is read of answers, and kept of them. What is not of its type counts as absent. */
const Text = z.string().optional().catch(undefined);
const Texts = z.record(z.string(), z.string().catch('')).catch({});
const list = <Item extends z.ZodType>(item: Item) => z.array(item).catch([]);

const Metadata = z.object({ name: z.string(), labels: Texts.optional() });

/** One page of a list, its items not looked at yet. */
export const ListPage = z.object({
  items: z.array(z.unknown()),
  metadata: z
    .object({ continue: Text, resourceVersion: Text })
    .catch({ continue: undefined, resourceVersion: undefined }),
});

const Taint = z.object({ key: z.string(), value: Text, effect: z.string() });
export type Taint = z.infer<typeof Taint>;

export const Node = z.object({
  metadata: Metadata,
  spec: z.object({ unschedulable: z.boolean().optional().catch(undefined), taints: list(Taint) }).catch({ taints: [] }),
  status: z
    .object({
      capacity: Texts,
      allocatable: Texts,
      conditions: list(z.object({ type: z.string(), status: z.string() })),
      nodeInfo: z.object({ kubeletVersion: Text }).optional().catch(undefined),
    })
    .catch({ capacity: {}, allocatable: {}, conditions: [] }),
});
export type Node = z.infer<typeof Node>;

export const Quota = z.object({
  metadata: Metadata,
  status: z.object({ hard: Texts, used: Texts }).catch({ hard: {}, used: {} }),
});
export type Quota = z.infer<typeof Quota>;

const Limit = z.object({ type: z.string(), max: Texts, min: Texts, default: Texts });
export const LimitRange = z.object({
  metadata: Metadata,
  spec: z.object({ limits: list(Limit) }).catch({ limits: [] }),
});
export type LimitRange = z.infer<typeof LimitRange>;

/** Any object of the API that is asked for by its name. */
export const Named = z.object({ metadata: Metadata });

const Count = z.number().optional().catch(undefined);
const Time = Text;

const ObjectMeta = z.object({
  name: z.string(),
  uid: z.string(),
  labels: Texts.optional().default({}),
  annotations: Texts.optional().default({}),
  resourceVersion: Text,
  creationTimestamp: Time,
  /** It is being deleted. */
  deletionTimestamp: Time,
  /** What has to let go of it before it is gone. */
  finalizers: z.array(z.string()).optional().catch(undefined),
  ownerReferences: list(z.object({ kind: z.string(), name: z.string(), uid: z.string() })),
});

const Condition = z.object({ type: z.string(), status: z.string(), reason: Text, message: Text });
export type Condition = z.infer<typeof Condition>;

export const K8sJob = z.object({
  metadata: ObjectMeta,
  spec: z.object({ suspend: z.boolean().optional().catch(undefined) }).catch({ suspend: undefined }),
  status: z
    .object({ active: Count, succeeded: Count, failed: Count, conditions: list(Condition) })
    .catch({ active: undefined, succeeded: undefined, failed: undefined, conditions: [] }),
});
export type K8sJob = z.infer<typeof K8sJob>;

const Terminated = z.object({
  exitCode: z.number(),
  signal: Count,
  reason: Text,
  message: Text,
  startedAt: Time,
  finishedAt: Time,
});
export type Terminated = z.infer<typeof Terminated>;

const ContainerState = z.object({
  waiting: z.object({ reason: Text, message: Text }).optional().catch(undefined),
  running: z.object({ startedAt: Time }).optional().catch(undefined),
  terminated: Terminated.optional().catch(undefined),
});

const ContainerStatus = z.object({
  name: z.string(),
  image: Text,
  imageID: Text,
  restartCount: Count,
  state: ContainerState.catch({}),
  lastState: ContainerState.optional().catch(undefined),
});
export type ContainerStatus = z.infer<typeof ContainerStatus>;

const Container = z.object({
  name: z.string(),
  image: Text,
  resources: z.object({ limits: Texts }).catch({ limits: {} }),
});

export const Pod = z.object({
  metadata: ObjectMeta,
  spec: z.object({ nodeName: Text, containers: list(Container) }).catch({ nodeName: undefined, containers: [] }),
  status: z
    .object({
      phase: Text,
      reason: Text,
      message: Text,
      startTime: Time,
      conditions: list(Condition),
      containerStatuses: list(ContainerStatus),
      initContainerStatuses: list(ContainerStatus),
    })
    .catch({
      phase: undefined,
      reason: undefined,
      message: undefined,
      startTime: undefined,
      conditions: [],
      containerStatuses: [],
      initContainerStatuses: [],
    }),
});
export type Pod = z.infer<typeof Pod>;

/** A pod as it was last seen; `deleted`: it is no longer there. */
export type SeenPod = Pod & { deleted?: true };

export const K8sEvent = z.object({
  metadata: z.object({ name: z.string(), creationTimestamp: Time }),
  type: Text,
  reason: Text,
  message: Text,
  count: Count,
  firstTimestamp: Time,
  lastTimestamp: Time,
  eventTime: Time,
  involvedObject: z
    .object({ kind: Text, name: Text, uid: Text })
    .catch({ kind: undefined, name: undefined, uid: undefined }),
});
export type K8sEvent = z.infer<typeof K8sEvent>;
