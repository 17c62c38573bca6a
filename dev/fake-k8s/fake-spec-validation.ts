import type { Container, PodSpec } from './fake-objects.js';
import { milliOf } from './fake-quantities.js';
import { isLabelValue, LABEL_RULE } from './fake-selectors.js';
import type { Cause } from './status.js';

export type Fault = Required<Cause>;

export const fault = (field: string, kind: 'Invalid' | 'NotSupported', value: unknown, why: string): Fault => ({
  reason: `FieldValue${kind}`,
  message: `${kind === 'Invalid' ? 'Invalid' : 'Unsupported'} value: ${JSON.stringify(value)}: ${why}`,
  field,
});
export const required = (field: string, why = ''): Fault => ({
  reason: 'FieldValueRequired',
  message: `Required value${why && `: ${why}`}`,
  field,
});

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_1123 =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with how a pod is to be, whose fields begin with `path`. */
export function specFaults(spec: PodSpec, path: string): Fault[] {
  const containers = spec.containers ?? [];
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name));
  return [
    ...(containers.length === 0 ? [required(`${path}.containers`)] : []),
    ...[containers, spec.initContainers ?? []].flatMap((each, at) =>
      each.flatMap((container, index) =>
        containerFaults(container, `${path}.${at === 0 ? 'containers' : 'initContainers'}[${index}]`, volumes),
      ),
    ),
    ...Object.values(spec.nodeSelector ?? {})
      .filter((value) => !isLabelValue(value))
      .map((value) => fault(`${path}.nodeSelector`, 'Invalid', value, LABEL_RULE(value))),
    ...(spec.tolerations ?? []).flatMap(({ operator, value }, at) =>
      operator === 'Exists' && value
        ? [
            fault(
              `${path}.tolerations[${at}].operator`,
              'Invalid',
              value,
              "value must be empty when `operator` is 'Exists'",
            ),
          ]
        : [],
    ),
    ...(spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds < 1
      ? [
          fault(
            `${path}.activeDeadlineSeconds`,
            'Invalid',
            spec.activeDeadlineSeconds,
            'must be between 1 and 2147483647, inclusive',
          ),
        ]
      : []),
  ];
}

function containerFaults(container: Container, path: string, volumes: ReadonlySet<string>): Fault[] {
  const { name, image, env = [], volumeMounts = [] } = container;
  return [
    ...(name === undefined || name === '' ? [required(`${path}.name`)] : []),
    ...(name && !LABEL.test(name) ? [fault(`${path}.name`, 'Invalid', name, LABEL_1123)] : []),
    ...(image === undefined || image === '' ? [required(`${path}.image`)] : []),
    ...env.flatMap((each, at) => (each.name ? [] : [required(`${path}.env[${at}].name`)])),
    ...volumeMounts.flatMap((mount, at) =>
      volumes.has(mount.name)
        ? []
        : [
            {
              reason: 'FieldValueNotFound',
              message: `Not found: ${JSON.stringify(mount.name)}`,
              field: `${path}.volumeMounts[${at}].name`,
            },
          ],
    ),
    ...resourceFaults(container, `${path}.resources`),
  ];
}

/** Such as devices: nothing may be asked for that is not limited to the same. */
const isExtended = (resource: string): boolean => resource.includes('/') && !resource.startsWith('kubernetes.io/');

function resourceFaults({ resources: { requests = {}, limits = {} } = {} }: Container, path: string): Fault[] {
  return Object.entries(requests).flatMap(([resource, asked]) => {
    const limit = limits[resource];
    if (limit === undefined) {
      return isExtended(resource)
        ? [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
        : [];
    }
    if (isExtended(resource) && milliOf(limit) !== milliOf(asked)) {
      return [fault(`${path}.requests`, 'Invalid', asked, `must be equal to ${resource} limit of ${limit}`)];
    }
    return milliOf(asked) > milliOf(limit)
      ? [fault(`${path}.requests`, 'Invalid', asked, `must be less than or equal to ${resource} limit of ${limit}`)]
      : [];
  });
}
