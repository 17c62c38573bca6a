import type { Kind, Pod, Stored } from './fake-objects.js';
import { isObject } from './fake-patch.js';
import { RESOURCES, typed } from './fake-resources.js';
import type { FakeStore } from './fake-store.js';
import { type Answer, conflict, invalid, ok, success } from './status.js';

export interface DeleteOptions {
  propagationPolicy?: string;
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];
const ORPHANS_BY_DEFAULT =
  '299 - "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"';

/** A body, be it empty of options, is what counts; the query only where there is none. */
export function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  if (isObject(body)) return body as DeleteOptions;
  const [policy, grace] = [query.get('propagationPolicy'), query.get('gracePeriodSeconds')];
  return { ...(policy && { propagationPolicy: policy }), ...(grace && { gracePeriodSeconds: Number(grace) }) };
}

/** What a pod gets to end in: nothing where nothing runs. */
export function graceOf({ spec, status, metadata }: Pod, asked?: number): number {
  if (!spec.nodeName || status.phase === 'Succeeded' || status.phase === 'Failed') return 0;
  const grace = asked ?? spec.terminationGracePeriodSeconds ?? 30;
  return Math.min(Math.max(0, grace), metadata.deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY);
}

/** Begins to delete an object, as an API server does when it is asked to: as it is then. */
export function deleteObject(
  store: FakeStore,
  kind: Kind,
  { metadata }: Stored,
  options: DeleteOptions = {},
): Stored | undefined {
  const { namespace = '', name } = metadata;
  const { propagationPolicy: policy = kind === 'jobs' ? 'Orphan' : 'Background', gracePeriodSeconds } = options;
  const pod = kind === 'pods' ? store.get('pods', namespace, name) : undefined;
  const finalizer = policy === 'Orphan' ? 'orphan' : policy === 'Foreground' ? 'foregroundDeletion' : undefined;
  return store.remove(kind, namespace, name, {
    ...(pod && { graceSeconds: graceOf(pod, gracePeriodSeconds) }),
    ...(finalizer && { finalizer }),
  });
}

/** The answer to a DELETE of an object that there is. */
export function answerDeletion(store: FakeStore, kind: Kind, object: Stored, options: DeleteOptions): Answer {
  const { name: title, group } = RESOURCES[kind];
  const { name, uid, resourceVersion } = object.metadata;
  const { propagationPolicy: policy, preconditions } = options;
  const isOrphaning = kind === 'jobs' && policy === undefined;
  const headers: Record<string, string> = isOrphaning ? { warning: ORPHANS_BY_DEFAULT } : {};
  if (policy !== undefined && !POLICIES.includes(policy)) return unsupported(policy);
  const why = unmet(preconditions, uid, resourceVersion);
  if (why) return { ...conflict(title, group, name, why), headers };
  const deleted = deleteObject(store, kind, object, options);
  const left = store.get(kind, object.metadata.namespace ?? '', name);
  if (left || kind === 'pods') return { ...ok(typed(kind, left ?? deleted ?? object)), headers };
  return { ...success({ name, ...(group && { group }), kind, uid }), headers };
}

function unmet(asked: DeleteOptions['preconditions'], uid: string, version: string): string | undefined {
  const recreated = 'The object might have been deleted and then recreated';
  if (asked?.uid && asked.uid !== uid) {
    return `the UID in the precondition (${asked.uid}) does not match the UID in record (${uid}). ${recreated}`;
  }
  if (asked?.resourceVersion && asked.resourceVersion !== version) {
    return `the ResourceVersion in the precondition (${asked.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`;
  }
  return undefined;
}

function unsupported(policy: string): Answer {
  const supported = POLICIES.map((each) => `"${each}"`).join(', ');
  const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`;
  const cause = { reason: 'FieldValueNotSupported', message, field: 'propagationPolicy' };
  return invalid('DeleteOptions', 'meta.k8s.io', '', [cause]);
}
