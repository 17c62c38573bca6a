import type { Kind, Stored } from './fake-objects.js';

interface ResourceType {
  /** As in objects: `Job`. */
  name: string;
  group: string;
  version: string;
  isNamespaced: boolean;
  /** Of the label of a field selector, besides the name and namespace of every kind. */
  fields?: readonly string[];
}

const OF_EVENTS = ['kind', 'namespace', 'name', 'uid', 'fieldPath'].map((field) => `involvedObject.${field}`);
const core = { group: '', version: 'v1', isNamespaced: true };

/** By their names in paths. */
export const RESOURCES: Readonly<Record<Kind, ResourceType>> = {
  jobs: { name: 'Job', group: 'batch', version: 'v1', isNamespaced: true, fields: ['status.successful'] },
  pods: {
    ...{ ...core, name: 'Pod' },
    fields: ['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'status.phase'],
  },
  secrets: { ...core, name: 'Secret', fields: ['type'] },
  events: { ...core, name: 'Event', fields: [...OF_EVENTS, 'reason', 'type', 'reportingComponent'] },
  serviceaccounts: { ...core, name: 'ServiceAccount' },
  resourcequotas: { ...core, name: 'ResourceQuota' },
  limitranges: { ...core, name: 'LimitRange' },
  nodes: { ...core, name: 'Node', isNamespaced: false, fields: ['spec.unschedulable'] },
  namespaces: { ...core, name: 'Namespace', isNamespaced: false, fields: ['status.phase'] },
  networkpolicies: { name: 'NetworkPolicy', group: 'networking.k8s.io', version: 'v1', isNamespaced: true },
  runtimeclasses: { name: 'RuntimeClass', group: 'node.k8s.io', version: 'v1', isNamespaced: false },
};

const GROUPS = new Set(Object.values(RESOURCES).map(({ group, version }) => `${group}/${version}`));
GROUPS.add('authentication.k8s.io/v1').add('authorization.k8s.io/v1');

export const isKind = (resource: string): resource is Kind => Object.hasOwn(RESOURCES, resource);
export const apiVersionOf = ({ group, version }: ResourceType): string => (group ? `${group}/${version}` : version);

/** As it is alone, not in a list: with its kind. */
export function typed<Object extends Stored>(kind: Kind, object: Object): Object {
  const type = RESOURCES[kind];
  return { ...object, kind: type.name, apiVersion: apiVersionOf(type) };
}

export interface Target {
  group: string;
  /** In a group that there is; whether it is one of ours is not said. */
  resource: string;
  /** Absent: over all of them, or of a kind without. */
  namespace?: string;
  name?: string;
  subresource?: string;
}

/** What a path is about: of no group that there is, nothing. */
export function targetOf(path: string): Target | undefined {
  const [root = '', ...rest] = path.split('/').slice(1).map(decoded);
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (rest.shift() ?? '');
  const version = rest.shift() ?? '';
  if (!GROUPS.has(`${group}/${version}`)) return undefined;
  const isWithin = rest[0] === 'namespaces' && rest.length > 2;
  const [namespace, parts] = isWithin ? [rest[1], rest.slice(2)] : [undefined, rest];
  const [resource, name, subresource, ...more] = parts;
  if (!resource || more.length > 0) return undefined;
  return {
    group,
    resource,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(subresource && { subresource }),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
