import type { Job, Kind, Kinds, Stored } from './fake-objects.js';
import { isObject, mergePatch } from './fake-patch.js';
import { RESOURCES, typed } from './fake-resources.js';
import { readAs } from './fake-schema.js';
import type { FakeStore } from './fake-store.js';
import { faultsOf } from './fake-validation.js';
import { type Answer, badRequest, conflict, failure, invalid, ok } from './status.js';

const MERGING = ['application/merge-patch+json', 'application/strategic-merge-patch+json'];
const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

interface Patch {
  body: unknown;
  contentType: string;
}

/** The answer to a PATCH of an object that there is. Lists are replaced, also by a patch that calls itself strategic. */
export function patched(store: FakeStore, kind: Kind, found: Stored, { body, contentType }: Patch): Answer {
  if (!MERGING.includes(contentType)) return failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  if (!isObject(body)) return badRequest('error decoding patch: unexpected end of JSON input');
  const { name: title, group } = RESOURCES[kind];
  const { name, namespace = '', uid, resourceVersion } = found.metadata;
  const wanted = mergePatch(found, body) as Kinds[Kind];
  const { metadata } = wanted;
  const { fault } = readAs(kind, wanted as unknown as Record<string, unknown>);
  if (fault) {
    const cause = { reason: 'FieldValueInvalid', message: `Invalid value: "{}": ${fault}`, field: 'patch' };
    return invalid('', '', '', [cause]);
  }
  if (metadata.uid !== uid) {
    const message = `Invalid value: ${JSON.stringify(metadata.uid)}: field is immutable`;
    return invalid(title, group, name, [{ reason: 'FieldValueInvalid', message, field: 'metadata.uid' }]);
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== resourceVersion) {
    return conflict(kind, group, name, MODIFIED);
  }
  const faults = faultsOf(kind, wanted);
  if (faults.length > 0) return invalid(title, group, name, faults);
  const field = fixedField(kind, found, wanted);
  if (field) {
    const message = 'Invalid value: {}: field is immutable';
    return invalid(title, group, name, [{ reason: 'FieldValueInvalid', message, field }]);
  }
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = found.metadata;
  const own = { name, namespace, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation };
  store.update(kind, namespace, name, (copy) => {
    Object.assign(copy, wanted, {
      metadata: { ...metadata, ...own },
      ...(Reflect.get(found, 'status') !== undefined && { status: Reflect.get(found, 'status') }),
    });
    if (namespace === '') delete copy.metadata.namespace;
  });
  return ok(typed(kind, store.get(kind, namespace, name) ?? wanted));
}

/** The field that a patch changes although it may not. */
function fixedField(kind: Kind, found: Stored, wanted: Stored): string | undefined {
  if (kind !== 'jobs') return undefined;
  const [before, after] = [(found as Job).spec, (wanted as Job).spec];
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  for (const each of ['completions', 'selector'] as const)
    if (!isSame(before[each], after[each])) return `spec.${each}`;
  const isUnstarted = before.suspend === true && (found as Job).status.startTime === undefined;
  const fixed = ({ template }: Job['spec']): unknown => {
    const { nodeSelector: _nodes, tolerations: _tolerations, ...rest } = template.spec;
    return isUnstarted ? rest : template;
  };
  return isSame(fixed(before), fixed(after)) ? undefined : 'spec.template';
}
