/** Objects of the API, as far as the fake looks at them. What is absent is `undefined`, as on the wire. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface Meta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  generateName?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  /** It is being deleted, and is gone when no finalizer and no grace is left. */
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
}

export interface Stored {
  apiVersion?: string;
  kind?: string;
  metadata: Meta;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastProbeTime?: string | null;
  lastTransitionTime?: string;
}

export type Quantities = Record<string, string>;

interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: { name: string; key: string; optional?: boolean }; fieldRef?: { fieldPath: string } };
}

interface VolumeMount {
  name: string;
  mountPath: string;
  subPath?: string;
  readOnly?: boolean;
}

export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  env?: EnvVar[];
  resources?: { requests?: Quantities; limits?: Quantities };
  volumeMounts?: VolumeMount[];
  securityContext?: Record<string, unknown>;
}

export interface Volume {
  name: string;
  secret?: {
    secretName: string;
    defaultMode?: number;
    items?: { key: string; path: string; mode?: number }[];
    optional?: boolean;
  };
  emptyDir?: { medium?: string; sizeLimit?: string };
}

interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface PodSpec {
  nodeName?: string;
  restartPolicy?: string;
  priority?: number;
  activeDeadlineSeconds?: number;
  terminationGracePeriodSeconds?: number;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  runtimeClassName?: string;
  serviceAccountName?: string;
  imagePullSecrets?: { name: string }[];
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  securityContext?: Record<string, unknown>;
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
}

interface Terminated {
  exitCode: number;
  signal?: number;
  reason?: string;
  message?: string;
  startedAt?: string | null;
  finishedAt?: string | null;
  containerID?: string;
}

interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt: string };
  terminated?: Terminated;
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  ready: boolean;
  started?: boolean;
  restartCount: number;
  state: ContainerState;
  lastState: ContainerState;
}

export interface PodStatus {
  phase: string;
  reason?: string;
  message?: string;
  startTime?: string;
  qosClass?: string;
  conditions?: Condition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

export interface Pod extends Stored {
  spec: PodSpec;
  status: PodStatus;
}

export interface JobStatus {
  startTime?: string;
  completionTime?: string;
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  uncountedTerminatedPods?: object;
  conditions?: Condition[];
}

export interface Job extends Stored {
  spec: {
    suspend?: boolean;
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    podReplacementPolicy?: string;
    manualSelector?: boolean;
    selector?: { matchLabels: Record<string, string> };
    template: { metadata?: Partial<Meta>; spec: PodSpec };
  };
  status: JobStatus;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface Node extends Stored {
  spec: { unschedulable?: boolean; taints?: Taint[] };
  status: {
    capacity: Quantities;
    allocatable: Quantities;
    conditions: Condition[];
    nodeInfo?: { kubeletVersion?: string };
  };
}

export interface Secret extends Stored {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
}

export interface InvolvedObject {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  fieldPath?: string;
}

/** Those of the scheduler have `eventTime` and no count, those of others the reverse. */
export interface K8sEvent extends Stored {
  involvedObject: InvolvedObject;
  type: string;
  reason: string;
  message: string;
  count?: number;
  firstTimestamp: string | null;
  lastTimestamp: string | null;
  eventTime: string | null;
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  reportingInstance?: string;
}

export interface ResourceQuota extends Stored {
  spec: { hard: Quantities };
  status: { hard: Quantities; used: Quantities };
}

interface Other extends Stored {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

/** By the name that a kind has in paths. */
export interface Kinds {
  jobs: Job;
  pods: Pod;
  secrets: Secret;
  events: K8sEvent;
  nodes: Node;
  resourcequotas: ResourceQuota;
  networkpolicies: Other;
  namespaces: Other;
  limitranges: Other;
  runtimeclasses: Other;
  serviceaccounts: Other;
}

export type Kind = keyof Kinds;

/** An object that does not exist yet: what a store adds to it may be absent. */
export type Draft<Object extends Stored> = Omit<Object, 'metadata' | 'status'> & {
  metadata: Partial<Meta>;
  status?: Object extends { status: infer Status } ? Status : unknown;
};
