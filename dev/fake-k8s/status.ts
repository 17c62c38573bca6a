/** One answer as it goes over the wire. */
export interface Answer {
  status: number;
  /** An object is sent as JSON, a string as it is. */
  body: unknown;
  headers?: Record<string, string>;
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body });

/** The JSON that an API server refuses with. */
export const failure = (code: number, reason: string, message: string, details?: object): Answer => ({
  status: code,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details && { details }),
    code,
  },
});

export const unauthorized = (): Answer => failure(401, 'Unauthorized', 'Unauthorized');

/** `jobs` in the core group, `jobs.batch` elsewhere. */
const qualified = (resource: string, group: string): string => (group ? `${resource}.${group}` : resource);

export interface Attributes {
  verb: string;
  group: string;
  resource: string;
  namespace?: string;
  name?: string;
}

export function forbidden(user: string, { verb, group, resource, namespace, name }: Attributes): Answer {
  const subject = `${qualified(resource, group)}${name ? ` "${name}"` : ''}`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const what = `cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
  const message = `${subject} is forbidden: User "${user}" ${what}`;
  return failure(403, 'Forbidden', message, { ...(name && { name }), kind: resource });
}

export const notFound = (resource: string, group: string, name: string): Answer =>
  failure(404, 'NotFound', `${qualified(resource, group)} "${name}" not found`, { name, kind: resource });
