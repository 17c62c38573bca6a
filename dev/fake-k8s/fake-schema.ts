import type { Kind } from './fake-objects.js';
import { isObject } from './fake-patch.js';
import { RESOURCES } from './fake-resources.js';

type Shape = 'text' | 'number' | 'flag' | 'texts' | 'any' | readonly [Shape] | { readonly [field: string]: Shape };

const META: Shape = {
  ...{ name: 'text', generateName: 'text', namespace: 'text', labels: 'texts', annotations: 'texts' },
  ...{ uid: 'text', resourceVersion: 'text', generation: 'number', creationTimestamp: 'any', finalizers: ['text'] },
  ...{ deletionTimestamp: 'any', deletionGracePeriodSeconds: 'number', managedFields: 'any', selfLink: 'text' },
  ownerReferences: [
    { apiVersion: 'text', kind: 'text', name: 'text', uid: 'text', controller: 'flag', blockOwnerDeletion: 'flag' },
  ],
};
const KEY_REF: Shape = { name: 'text', key: 'text', optional: 'flag' };
const CONTAINER: Shape = {
  ...{ name: 'text', image: 'text', imagePullPolicy: 'text', command: ['text'], args: ['text'], workingDir: 'text' },
  env: [
    {
      ...{ name: 'text', value: 'text' },
      valueFrom: {
        ...{ secretKeyRef: KEY_REF, configMapKeyRef: KEY_REF },
        ...{ fieldRef: 'any', resourceFieldRef: 'any', fileKeyRef: 'any' },
      },
    },
  ],
  ...{ envFrom: 'any', ports: 'any', lifecycle: 'any', livenessProbe: 'any', readinessProbe: 'any' },
  ...{ startupProbe: 'any', resizePolicy: 'any', restartPolicy: 'text', restartPolicyRules: 'any' },
  resources: { requests: 'any', limits: 'any', claims: 'any' },
  volumeMounts: [
    {
      ...{ name: 'text', mountPath: 'text', subPath: 'text', subPathExpr: 'text', readOnly: 'flag' },
      ...{ mountPropagation: 'text', recursiveReadOnly: 'text' },
    },
  ],
  ...{ volumeDevices: 'any', securityContext: 'any', stdin: 'flag', stdinOnce: 'flag', tty: 'flag' },
  ...{ terminationMessagePath: 'text', terminationMessagePolicy: 'text' },
};
const VOLUME: Shape = {
  name: 'text',
  secret: { secretName: 'text', defaultMode: 'number', items: 'any', optional: 'flag' },
  emptyDir: { medium: 'text', sizeLimit: 'any' },
  ...{
    configMap: 'any',
    projected: 'any',
    hostPath: 'any',
    persistentVolumeClaim: 'any',
    ephemeral: 'any',
    csi: 'any',
  },
  ...{ downwardAPI: 'any', nfs: 'any', image: 'any' },
};
const POD: Shape = {
  ...{ nodeName: 'text', restartPolicy: 'text', priority: 'number', priorityClassName: 'text' },
  ...{ activeDeadlineSeconds: 'number', terminationGracePeriodSeconds: 'number', preemptionPolicy: 'text' },
  ...{ automountServiceAccountToken: 'flag', enableServiceLinks: 'flag', runtimeClassName: 'text' },
  ...{ serviceAccountName: 'text', serviceAccount: 'text', imagePullSecrets: [{ name: 'text' }] },
  ...{ nodeSelector: 'texts', affinity: 'any', topologySpreadConstraints: 'any', schedulerName: 'text' },
  tolerations: [{ key: 'text', operator: 'text', value: 'text', effect: 'text', tolerationSeconds: 'number' }],
  ...{ securityContext: 'any', initContainers: [CONTAINER], containers: [CONTAINER], volumes: [VOLUME] },
  ...{ dnsPolicy: 'text', dnsConfig: 'any', hostNetwork: 'flag', hostPID: 'flag', hostIPC: 'flag', hostname: 'text' },
  ...{ subdomain: 'text', hostAliases: 'any', hostUsers: 'flag', shareProcessNamespace: 'flag', os: 'any' },
  ...{ readinessGates: 'any', schedulingGates: 'any', overhead: 'any', resources: 'any', resourceClaims: 'any' },
  ...{ setHostnameAsFQDN: 'flag', ephemeralContainers: 'any' },
};
const HEAD: Shape = { kind: 'text', apiVersion: 'text', metadata: META, status: 'any' };

const SCHEMAS: { readonly [K in Kind]?: Shape } = {
  jobs: {
    ...HEAD,
    spec: {
      ...{ suspend: 'flag', parallelism: 'number', completions: 'number', completionMode: 'text', managedBy: 'text' },
      ...{ backoffLimit: 'number', backoffLimitPerIndex: 'number', maxFailedIndexes: 'number' },
      ...{ activeDeadlineSeconds: 'number', ttlSecondsAfterFinished: 'number', podReplacementPolicy: 'text' },
      ...{ manualSelector: 'flag', selector: 'any', podFailurePolicy: 'any', successPolicy: 'any' },
      template: { metadata: META, spec: POD },
    },
  },
  pods: { ...HEAD, spec: POD },
  secrets: { ...HEAD, type: 'text', data: 'texts', stringData: 'texts', immutable: 'flag' },
  networkpolicies: { ...HEAD, spec: { podSelector: 'any', policyTypes: ['text'], ingress: 'any', egress: 'any' } },
};

/** What of a body is no field of its kind, by path, and the reason why it cannot be read at all. */
export interface Reading {
  unknown: string[];
  fault?: string;
}

/** Reads a body as the server does: fields that it does not know are left out. */
export function readAs(kind: Kind, body: Record<string, unknown>): Reading & { object: Record<string, unknown> } {
  const schema = SCHEMAS[kind];
  const reading: Reading = { unknown: [] };
  const object = schema ? (read(body, schema, '', reading) as Record<string, unknown>) : body;
  const type = RESOURCES[kind];
  const what = `${type.name} in version "${type.version}" cannot be handled as a ${type.name}`;
  return { ...reading, object, ...(reading.fault && { fault: `${what}: json: ${reading.fault}` }) };
}

const NAMES = { text: 'string', number: 'int32', flag: 'bool' } as const;
const TYPES = { text: 'string', number: 'number', flag: 'boolean' } as const;

function read(value: unknown, shape: Shape, path: string, reading: Reading): unknown {
  if (value === null || value === undefined) return undefined;
  if (shape === 'any') return value;
  if (shape === 'texts') {
    const isMap = isObject(value) && Object.values(value).every((each) => typeof each === 'string');
    return isMap ? value : fail(value, path, 'map[string]string', reading);
  }
  if (typeof shape === 'string') {
    const isRight = typeof value === TYPES[shape] && (shape !== 'number' || Number.isInteger(value));
    return isRight ? value : fail(value, path, NAMES[shape], reading);
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) return fail(value, path, '[]', reading);
    return value.map((each, at) => read(each, shape[0], `${path}[${at}]`, reading));
  }
  if (!isObject(value)) return fail(value, path, 'struct', reading);
  const known: Record<string, unknown> = {};
  for (const [field, of] of Object.entries(value)) {
    const inner = shape[field];
    const place = path === '' ? field : `${path}.${field}`;
    if (inner === undefined) reading.unknown.push(place);
    else known[field] = read(of, inner, place, reading);
  }
  return known;
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);

function fail(value: unknown, path: string, wanted: string, reading: Reading): undefined {
  const got = Array.isArray(value) ? 'array' : isObject(value) ? 'object' : typeof value;
  reading.fault ??= `cannot unmarshal ${got} into Go struct field .${path} of type ${wanted}`;
  return undefined;
}
