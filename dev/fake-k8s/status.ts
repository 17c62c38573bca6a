/** One answer as it goes over the wire. */
export interface Answer {
  status: number;
  /** An object is sent as JSON, a string as it is. */
  body: unknown;
  headers?: Record<string, string>;
}

export interface Cause {
  reason: string;
  message: string;
  field?: string;
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
    ...(reason && { reason }),
    ...(details && { details }),
    code,
  },
});

export const success = (details?: object, status = 200): Answer =>
  ok(
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      ...(details && { details }),
      ...(status !== 200 && { code: status }),
    },
    status,
  );

export const unauthorized = (): Answer => failure(401, 'Unauthorized', 'Unauthorized');
export const badRequest = (message: string): Answer => failure(400, 'BadRequest', message);

/** `jobs` in the core group, `jobs.batch` elsewhere. */
const qualified = (resource: string, group: string): string => (group ? `${resource}.${group}` : resource);
const detailsOf = (resource: string, group: string, name?: string): object => ({
  ...(name && { name }),
  ...(group && { group }),
  kind: resource,
});

export interface Attributes {
  verb: string;
  group: string;
  /** With its subresource: `pods/log`. */
  resource: string;
  namespace?: string;
  name?: string;
}

export function forbidden(user: string, { verb, group, resource, namespace, name }: Attributes): Answer {
  const [kind = ''] = resource.split('/');
  const subject = `${qualified(kind, group)}${name ? ` "${name}"` : ''}`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const what = `cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
  return failure(403, 'Forbidden', `${subject} is forbidden: User "${user}" ${what}`, detailsOf(kind, group, name));
}

/** By what is no right: a quota, a policy, a namespace that ends. */
export const denied = (resource: string, group: string, name: string, why: string, causes?: Cause[]): Answer =>
  failure(403, 'Forbidden', `${qualified(resource, group)} "${name}" is forbidden: ${why}`, {
    ...detailsOf(resource, group, name),
    ...(causes && { causes }),
  });

export const notFound = (resource: string, group: string, name: string): Answer =>
  failure(404, 'NotFound', `${qualified(resource, group)} "${name}" not found`, detailsOf(resource, group, name));

export const alreadyExists = (resource: string, group: string, name: string): Answer =>
  failure(
    409,
    'AlreadyExists',
    `${qualified(resource, group)} "${name}" already exists`,
    detailsOf(resource, group, name),
  );

/** Of the plural, or of the kind where the storage below says it. */
export const conflict = (resource: string, group: string, name: string, why: string): Answer =>
  failure(
    ...([409, 'Conflict', `Operation cannot be fulfilled on ${qualified(resource, group)} "${name}": ${why}`] as const),
    detailsOf(resource, group, name),
  );

export function invalid(kind: string, group: string, name: string, causes: readonly Required<Cause>[]): Answer {
  const told = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const why = told.length === 1 ? told[0] : `[${told.join(', ')}]`;
  const details = { ...detailsOf(kind, group, name), causes };
  return failure(422, 'Invalid', `${qualified(kind, group)} "${name}" is invalid: ${why}`, details);
}

export const expired = (message: string): Answer => failure(410, 'Expired', message);
export const notAllowed = (): Answer =>
  failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const noResource = (): Answer =>
  failure(404, 'NotFound', 'the server could not find the requested resource', {});
