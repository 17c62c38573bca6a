import type { Container, Draft, Job, Pod, PodSpec, Quantities, Secret } from './fake-objects.js';

/** A tag of its own, or `latest`. */
const isLatest = (image: string): boolean => !/[@:][^/]+$/.test(image) || image.endsWith(':latest');

const withDefaults = (container: Container): Container => ({
  resources: {},
  ...container,
  ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  imagePullPolicy: container.imagePullPolicy ?? (isLatest(container.image ?? '') ? 'Always' : 'IfNotPresent'),
});

/** Where a limit stands alone, as much is asked for: of a pod, not of what pods are made from. */
function withRequests({ requests, limits, ...rest }: NonNullable<Container['resources']>) {
  const asked = asText({ ...limits, ...requests });
  return {
    ...rest,
    ...(limits && { limits: asText(limits) }),
    ...(Object.keys(asked).length > 0 && { requests: asked }),
  };
}

/** Numbers may be written without quotes. */
const asText = (quantities: Quantities): Quantities =>
  Object.fromEntries(Object.entries(quantities).map(([axis, quantity]) => [axis, String(quantity)]));

const specWithDefaults = (spec: PodSpec): PodSpec => ({
  ...spec,
  ...(spec.initContainers && { initContainers: spec.initContainers.map(withDefaults) }),
  containers: (spec.containers ?? []).map(withDefaults),
  ...(spec.volumes && {
    volumes: spec.volumes.map((volume) => ({
      ...volume,
      ...(volume.secret && { secret: { defaultMode: 0o644, ...volume.secret } }),
    })),
  }),
  restartPolicy: spec.restartPolicy ?? 'Always',
  terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 30,
  ...{ dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler' },
  securityContext: spec.securityContext ?? {},
});

/** Its selector and the labels of its template are by the uid that it has got. */
export function jobWithDefaults({ metadata, spec, ...rest }: Draft<Job>): Draft<Job> {
  const { name = '', uid = '' } = metadata;
  const own = { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name };
  const { template } = spec;
  const labels = { ...template?.metadata?.labels, ...own, 'controller-uid': uid, 'job-name': name };
  return {
    ...rest,
    metadata: { ...metadata, labels: metadata.labels ?? labels },
    spec: {
      ...{
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        suspend: false,
        podReplacementPolicy: 'TerminatingOrFailed',
      },
      ...{ completionMode: 'NonIndexed', manualSelector: false },
      ...spec,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        metadata: { ...template?.metadata, labels },
        spec: specWithDefaults(template?.spec ?? { containers: [] }),
      },
    },
    status: {},
  };
}

const asking = (container: Container): Container => {
  const whole = withDefaults(container);
  return { ...whole, resources: withRequests(whole.resources ?? {}) };
};

const UNREACHED = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export function podWithDefaults({ metadata, spec, ...rest }: Draft<Pod>): Draft<Pod> {
  const added = UNREACHED.filter((key) => !spec.tolerations?.some((each) => each.key === key)).map((key) => ({
    ...{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  }));
  return {
    ...rest,
    metadata,
    spec: {
      ...specWithDefaults(spec),
      containers: spec.containers.map(asking),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(asking) }),
      serviceAccountName: spec.serviceAccountName ?? 'default',
      enableServiceLinks: spec.enableServiceLinks ?? true,
      priority: spec.priority ?? 0,
      tolerations: [...(spec.tolerations ?? []), ...added],
    },
    status: { phase: 'Pending', qosClass: qosOf(spec) },
  };
}

function qosOf({ containers }: PodSpec): string {
  const isGuaranteed = containers.every(({ resources: { requests, limits } = {} }) =>
    ['cpu', 'memory'].every(
      (axis) => limits?.[axis] !== undefined && (requests?.[axis] ?? limits[axis]) === limits[axis],
    ),
  );
  if (isGuaranteed) return 'Guaranteed';
  const isBare = containers.every(({ resources: { requests, limits } = {} }) => !requests && !limits);
  return isBare ? 'BestEffort' : 'Burstable';
}

export function secretWithDefaults(secret: Draft<Secret>): Draft<Secret> {
  const { stringData, ...rest } = secret as Draft<Secret> & { stringData?: Record<string, string> };
  const written = Object.entries(stringData ?? {}).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { type: 'Opaque', ...rest, data: { ...rest.data, ...Object.fromEntries(written) } };
}
