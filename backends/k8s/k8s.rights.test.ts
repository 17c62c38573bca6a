import { readFileSync } from 'node:fs';
import { load, loadAll } from 'js-yaml';
import { JOB_RIGHTS, NETWORK_RIGHTS, type Right } from './k8s.rights.js';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}
interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  rules?: Rule[];
  roleRef?: { kind: string; name: string };
  subjects?: { kind: string; name: string; namespace: string }[];
}

const manifests = loadAll(readFileSync('examples/k8s/everdict.yaml', 'utf8')) as Manifest[];
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);

const rightOf = ({ group, resource, subresource, verb }: Right) =>
  `${group} ${resource}${subresource ? `/${subresource}` : ''} ${verb}`;
const grantedBy = ({ rules = [] }: Manifest): string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${group} ${resource} ${verb}`))),
  );
const granted = (kind: string): string[] => ofKind(kind).flatMap(grantedBy);
const NEEDED = [...JOB_RIGHTS, ...NETWORK_RIGHTS].map(rightOf);

test('the example role grants what jobs need, what an inspection reads, and nothing else', () => {
  const inspected = [' namespaces get', ' resourcequotas list', ' limitranges list'];
  expect(granted('Role').toSorted()).toEqual([...NEEDED, ...inspected].toSorted());
  expect(granted('ClusterRole')).toEqual([' nodes list', 'node.k8s.io runtimeclasses get']);
});

test('the runbook has the shortest role that suffices', () => {
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(readFileSync('docs/runbooks/kubernetes.md', 'utf8')) ?? [];
  const role = load(text) as Manifest;
  expect(role).toMatchObject({ kind: 'Role', metadata: { name: 'everdict', namespace: 'evals' } });
  expect(grantedBy(role).toSorted()).toEqual(NEEDED.toSorted());
});

test('the example binds its roles to its account, whose token it makes', () => {
  const subjects = [{ kind: 'ServiceAccount', name: 'everdict', namespace: 'evals' }];
  expect([...ofKind('RoleBinding'), ...ofKind('ClusterRoleBinding')]).toMatchObject([
    { metadata: { namespace: 'evals' }, roleRef: { kind: 'Role', name: ofKind('Role')[0]?.metadata.name }, subjects },
    { roleRef: { kind: 'ClusterRole', name: ofKind('ClusterRole')[0]?.metadata.name }, subjects },
  ]);
  expect(ofKind('ServiceAccount')).toMatchObject([{ metadata: { name: 'everdict', namespace: 'evals' } }]);
  const annotations = { 'kubernetes.io/service-account.name': 'everdict' };
  expect(ofKind('Secret')).toMatchObject([{ metadata: { annotations } }]);
});
