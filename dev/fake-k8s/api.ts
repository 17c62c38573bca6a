import { type Answer, type Attributes, failure, forbidden, notFound, ok } from './status.js';

const ANONYMOUS = 'system:anonymous';

/** An object of the API, as far as it matters. */
export interface Resource {
  metadata: { name: string; [key: string]: unknown };
  [key: string]: unknown;
}

/** What there is. Tests change it as they like. */
export interface Cluster {
  version: string;
  nodes: Resource[];
  namespaces: string[];
  /** By kind as in paths, in the one namespace that has any. */
  namespaced: Record<string, Resource[]>;
  runtimeClasses: Resource[];
}

export interface Account {
  user: string;
  /** `get pods/log`, `list nodes`; `*` is everything. */
  rights: readonly string[];
}

export interface Question {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
  /** Absent: anonymous. */
  account?: Account;
}

const PATH = /^\/(?:api\/v1|apis\/([^/]+)\/v1)(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?$/;

const may = (account: Account | undefined, verb: string, resource: string): boolean =>
  account !== undefined && (account.rights.includes('*') || account.rights.includes(`${verb} ${resource}`));

export function answerRequest(cluster: Cluster, question: Question): Answer {
  const { method, path, account } = question;
  if (path === '/version') return ok({ major: '1', minor: '34', gitVersion: cluster.version, platform: 'linux/amd64' });
  const [, group = '', namespace, resource = '', name] = PATH.exec(path) ?? [];
  if (!resource) return { status: 404, body: '404 page not found' };
  if (resource === 'selfsubjectreviews') return selfReview(account);
  if (resource === 'selfsubjectaccessreviews') return accessReview(question);
  const verb = method === 'GET' ? (name ? 'get' : 'list') : method.toLowerCase();
  const scope = resource === 'namespaces' ? name : namespace;
  const attributes: Attributes = { verb, group, resource, namespace: scope, name };
  if (!may(account, verb, resource)) return forbidden(account?.user ?? ANONYMOUS, attributes);
  if (method !== 'GET') return failure(405, 'MethodNotAllowed', 'the fake does not do that yet');
  const items = itemsOf(cluster, resource);
  if (name === undefined) return page(items, question.query);
  const found = items.find(({ metadata }) => metadata.name === name);
  return found ? ok(found) : notFound(resource, group, name);
}

function itemsOf({ nodes, namespaces, runtimeClasses, namespaced }: Cluster, resource: string): Resource[] {
  switch (resource) {
    case 'nodes':
      return nodes;
    case 'runtimeclasses':
      return runtimeClasses;
    case 'namespaces':
      return namespaces.map((name) => ({ metadata: { name } }));
    default:
      return namespaced[resource] ?? [];
  }
}

function page(items: Resource[], query: URLSearchParams): Answer {
  const from = Number(query.get('continue') ?? 0);
  const limit = Number(query.get('limit') ?? 0) || items.length;
  const next = from + limit < items.length ? String(from + limit) : '';
  const metadata = { resourceVersion: '1', ...(next && { continue: next }) };
  return ok({ kind: 'List', apiVersion: 'v1', metadata, items: items.slice(from, from + limit) });
}

function selfReview(account: Account | undefined): Answer {
  const [group, resource] = ['authentication.k8s.io', 'selfsubjectreviews'];
  if (!account) return forbidden(ANONYMOUS, { verb: 'create', group, resource });
  const userInfo = { username: account.user, groups: ['system:authenticated'] };
  return ok({ kind: 'SelfSubjectReview', apiVersion: `${group}/v1`, status: { userInfo } }, 201);
}

function accessReview({ account, body }: Question): Answer {
  const [group, resource] = ['authorization.k8s.io', 'selfsubjectaccessreviews'];
  if (!account) return forbidden(ANONYMOUS, { verb: 'create', group, resource });
  const { spec } = body as { spec: { resourceAttributes: { verb: string; resource: string; subresource?: string } } };
  const { verb, resource: kind, subresource } = spec.resourceAttributes;
  const allowed = may(account, verb, subresource ? `${kind}/${subresource}` : kind);
  return ok({ kind: 'SelfSubjectAccessReview', apiVersion: `${group}/v1`, spec, status: { allowed } }, 201);
}
