/** What is made on Kubernetes, as its API has it, with no more fields than are set. */
export interface Meta {
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  ownerReferences?: { apiVersion: 'batch/v1'; kind: 'Job'; name: string; uid: string }[];
}

export interface JobDocument {
  apiVersion: 'batch/v1';
  kind: 'Job';
  metadata: Meta;
  spec: {
    suspend: true;
    backoffLimit: 0;
    completions: 1;
    parallelism: 1;
    podReplacementPolicy: 'Failed';
    ttlSecondsAfterFinished: number;
    template: { metadata: Omit<Meta, 'name' | 'ownerReferences'>; spec: PodSpec };
  };
}

export interface PodSpec {
  restartPolicy: 'Never';
  activeDeadlineSeconds: number;
  terminationGracePeriodSeconds: number;
  automountServiceAccountToken: false;
  enableServiceLinks: false;
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } };
  runtimeClassName?: string;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  imagePullSecrets?: [{ name: string }];
  initContainers?: [Container];
  containers: [Container];
  volumes: Volume[];
}

export interface Toleration {
  key?: string;
  operator?: 'Exists' | 'Equal';
  value?: string;
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  tolerationSeconds?: number;
}

export interface Container {
  name: string;
  image: string;
  imagePullPolicy: 'Always' | 'IfNotPresent';
  command: string[];
  args: string[];
  workingDir?: string;
  env?: Variable[];
  resources?: { limits: Amounts; requests: Amounts };
  securityContext: { allowPrivilegeEscalation: false };
  volumeMounts: { name: string; mountPath: string; readOnly?: true }[];
}

export interface Variable {
  name: string;
  valueFrom: { secretKeyRef: { name: string; key: string } };
}

/** As quantities: `500m`, `256Mi`, `1`. */
export interface Amounts {
  cpu?: string;
  memory?: string;
  'nvidia.com/gpu'?: string;
}

export type Volume =
  | { name: string; secret: { secretName: string; defaultMode: number; items: { key: string; path: string }[] } }
  | { name: string; emptyDir: { medium?: 'Memory' } };

export interface SecretDocument {
  apiVersion: 'v1';
  kind: 'Secret';
  metadata: Meta;
  type: 'Opaque' | 'kubernetes.io/dockerconfigjson';
  immutable: true;
  /** In base64. */
  data: Record<string, string>;
}

export interface NetworkPolicyDocument {
  apiVersion: 'networking.k8s.io/v1';
  kind: 'NetworkPolicy';
  metadata: Meta;
  spec: { podSelector: { matchLabels: Record<string, string> }; policyTypes: ['Egress']; egress: [] };
}

export interface K8sObjects {
  job: JobDocument;
  secrets: SecretDocument[];
  networkPolicy?: NetworkPolicyDocument;
}
