import type { Resources } from '../contracts/case.js';
import type { FieldError } from '../contracts/errors.js';
import { fieldPath } from '../contracts/field-path.js';
import type { K8sRuntimeSpec } from '../contracts/runtime.js';
import { imageFault } from './image-name.js';

/** MB. With less no process of a container starts. */
export const K8S_LEAST_MEMORY_MB = 6;

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Also the part of a key after its prefix. */
const LABEL = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

const LABEL_FORM = 'at most 63 of A-Z a-z 0-9 - _ . with a letter or digit at both ends';
const SUBDOMAIN_FORM = 'of a-z 0-9 - and . with a letter or digit at both ends of each part';

type Toleration = NonNullable<K8sRuntimeSpec['tolerations']>[number];

/** Why Kubernetes would refuse every job of a runtime; paths are those of the spec. */
export function k8sFaults(spec: K8sRuntimeSpec): FieldError[] {
  const { namespace, runtimeClass, image, nodeSelector = {}, tolerations = [] } = spec;
  const faults: FieldError[] = [];
  const refuse = (path: string, message: string | undefined) => {
    if (message !== undefined) faults.push({ path, message });
  };
  if (namespace !== undefined && !DNS_LABEL.test(namespace)) {
    refuse('namespace', 'is the name of no namespace: at most 63 of a-z 0-9 - with a letter or digit at both ends');
  }
  if (runtimeClass !== undefined && !DNS_SUBDOMAIN.test(runtimeClass)) {
    refuse('runtimeClass', `is the name of no RuntimeClass: ${SUBDOMAIN_FORM}`);
  }
  refuse('image', imageFault(image));
  for (const [key, value] of Object.entries(nodeSelector)) {
    refuse(fieldPath(['nodeSelector', key]), keyFault(key) ?? valueFault(value));
  }
  for (const [at, toleration] of tolerations.entries()) {
    for (const [field, message] of tolerationFaults(toleration)) refuse(`tolerations[${at}].${field}`, message);
  }
  return faults;
}

function keyFault(key: string): string | undefined {
  const [name = '', prefix, ...rest] = key.split('/').reverse();
  if (rest.length > 0) return 'has a key with more than one slash: a key is [prefix/]name';
  if (prefix !== undefined && !DNS_SUBDOMAIN.test(prefix))
    return `has a key whose prefix is no domain: ${SUBDOMAIN_FORM}`;
  return LABEL.test(name) ? undefined : `has a key that no label has: its name is ${LABEL_FORM}`;
}

const valueFault = (value: string): string | undefined =>
  value === '' || LABEL.test(value) ? undefined : `has a value that no label has: it is ${LABEL_FORM}, or empty`;

function tolerationFaults({ key, operator, value, effect, tolerationSeconds }: Toleration): [string, string][] {
  const faults: [string, string][] = [];
  const refuse = (field: keyof Toleration, message: string | undefined) => {
    if (message !== undefined) faults.push([field, message]);
  };
  if (key !== undefined) refuse('key', keyFault(key));
  else if (operator !== 'Exists')
    refuse('key', 'is missing: only operator Exists, which tolerates every key, takes none');
  if (operator === 'Exists') {
    refuse('value', value ? 'is not for operator Exists, which tolerates every value: use operator Equal' : undefined);
  } else if (value !== undefined) refuse('value', valueFault(value));
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    refuse('tolerationSeconds', 'is for effect NoExecute: no other ends what runs');
  }
  return faults;
}

/** What no pod of a case could start with; paths are those of the case. */
export function k8sCaseFaults({ memoryMb }: Resources, image: string | undefined): FieldError[] {
  const faults: FieldError[] = [];
  if (memoryMb !== undefined && memoryMb < K8S_LEAST_MEMORY_MB) {
    const message = `${memoryMb} MB is less than the ${K8S_LEAST_MEMORY_MB} MB that a container needs to start`;
    faults.push({ path: 'resources.memoryMb', message });
  }
  const message = image === undefined ? undefined : imageFault(image);
  if (message !== undefined) faults.push({ path: 'image', message: `${image} ${message}` });
  return faults;
}
