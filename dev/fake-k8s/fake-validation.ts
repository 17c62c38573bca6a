import type { Draft, Job, Kind, Meta, Pod, Secret, Stored } from './fake-objects.js';
import { isObject } from './fake-patch.js';
import { milliOf } from './fake-quantities.js';
import { isLabelValue, LABEL_RULE } from './fake-selectors.js';
import { type Fault, fault, required, specFaults } from './fake-spec-validation.js';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_1123 =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_KEY = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const MAX_ANNOTATIONS = 262_144;
const MAX_SECRET = 1_048_576;
const MAX_STORED = 1_572_864;

/** What is wrong with an object that is to be created: one cause for each. */
export function faultsOf(kind: Kind, draft: Draft<Stored>): Fault[] {
  const faults = metaFaults(draft.metadata);
  if (kind === 'jobs') return [...faults, ...jobFaults(draft as Draft<Job>)];
  if (kind === 'pods') return [...faults, ...podFaults((draft as Draft<Pod>).spec)];
  if (kind === 'secrets') return [...faults, ...secretFaults(draft as Draft<Secret>)];
  return faults;
}

function metaFaults({ name = '', generateName, labels = {}, annotations = {} }: Partial<Meta>): Fault[] {
  if (!name && !generateName) return [required('metadata.name', 'name or generateName is required')];
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return [
    ...(name && (name.length > 253 || !SUBDOMAIN.test(name))
      ? [
          fault(
            'metadata.name',
            'Invalid',
            name,
            name.length > 253 ? 'must be no more than 253 characters' : SUBDOMAIN_1123,
          ),
        ]
      : []),
    ...labelFaults(labels, 'metadata.labels'),
    ...Object.keys(labels)
      .filter((key) => !LABEL_KEY.test(key))
      .map((key) => fault('metadata.labels', 'Invalid', key, NAME_PART)),
    ...(size > MAX_ANNOTATIONS
      ? [
          {
            reason: 'FieldValueTooLong',
            message: `Too long: may not be more than ${MAX_ANNOTATIONS} bytes`,
            field: 'metadata.annotations',
          },
        ]
      : []),
  ];
}

const labelFaults = (labels: Record<string, string>, field: string): Fault[] =>
  Object.values(labels)
    .filter((value) => !isLabelValue(value))
    .map((value) => fault(field, 'Invalid', value, LABEL_RULE(value)));

const POLICIES = ['Failed', 'TerminatingOrFailed'];
const COUNTS = [
  'backoffLimit',
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'ttlSecondsAfterFinished',
] as const;

function jobFaults({ metadata, spec }: Draft<Job>): Fault[] {
  const { name = '' } = metadata;
  const { template, podReplacementPolicy } = spec;
  if (JSON.stringify(spec).length > MAX_STORED) return [tooLarge()];
  const replaces = podReplacementPolicy ?? 'Failed';
  return [
    ...(isLabelValue(name) ? [] : [0, 1].map(() => fault('spec.template.labels', 'Invalid', name, LABEL_RULE(name)))),
    ...COUNTS.flatMap((field) =>
      (spec[field] ?? 0) < 0
        ? [fault(`spec.${field}`, 'Invalid', spec[field], 'must be greater than or equal to 0')]
        : [],
    ),
    ...(POLICIES.includes(replaces) ? [] : [notSupported('spec.podReplacementPolicy', replaces, POLICIES)]),
    ...labelFaults(template?.metadata?.labels ?? {}, 'spec.template.labels'),
    ...specFaults(template?.spec ?? { containers: [] }, 'spec.template.spec'),
    ...restartFaults(template?.spec?.restartPolicy),
  ];
}

function restartFaults(policy: string | undefined): Fault[] {
  const field = 'spec.template.spec.restartPolicy';
  const valid = ['OnFailure', 'Never'];
  if (policy === undefined || policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')];
  return valid.includes(policy) ? [] : [notSupported(field, policy, valid)];
}

const notSupported = (field: string, value: string, supported: readonly string[]): Fault =>
  fault(field, 'NotSupported', value, `supported values: ${supported.map((each) => `"${each}"`).join(', ')}`);

const RESTARTS = ['Always', 'OnFailure', 'Never'];

const podFaults = (spec: Pod['spec']): Fault[] => [
  ...(spec.restartPolicy === undefined || RESTARTS.includes(spec.restartPolicy)
    ? []
    : [notSupported('spec.restartPolicy', spec.restartPolicy, RESTARTS)]),
  ...specFaults(spec, 'spec'),
];

function secretFaults({ data = {} }: Draft<Secret>): Fault[] {
  const size = Object.values(data).reduce((sum, value) => sum + Buffer.from(value, 'base64').length, 0);
  if (size <= MAX_SECRET) return [];
  return [
    { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${MAX_SECRET} bytes`, field: 'data' },
  ];
}

/** What a server says of a Job that its storage refuses: the second try of the write meets what the first one added. */
const tooLarge = (): Fault =>
  fault(
    'spec.template.metadata.labels[controller-uid]',
    'Invalid',
    '00000000-0000-0000-0000-000000000000',
    "must be '00000000-0000-0000-0000-000000000001'",
  );

/** The reason why a body cannot be decoded although its fields are of the right type: what is in text is no quantity. */
export function quantityFault(value: unknown): string | undefined {
  if (Array.isArray(value)) return first(value);
  if (!isObject(value)) return undefined;
  const { resources, ...rest } = value;
  if (isObject(resources)) {
    const given = [resources.requests, resources.limits].flatMap((each) => (isObject(each) ? Object.values(each) : []));
    if (given.some((each) => Number.isNaN(milliOf(each)))) {
      return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    }
  }
  return first(Object.values(rest));
}

function first(values: readonly unknown[]): string | undefined {
  for (const each of values) {
    const found = quantityFault(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The reason why the data of a Secret cannot be decoded. */
export function secretFault({ data }: Record<string, unknown>): string | undefined {
  const isBad = isObject(data) && Object.values(data).some((value) => !isBase64(String(value)));
  return isBad ? 'illegal base64 data at input byte 0' : undefined;
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(text);
