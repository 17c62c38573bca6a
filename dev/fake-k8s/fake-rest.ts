import type { Answer as HttpAnswer } from '../fake-http/fake-answer.js';
import type { Account } from './fake-access.js';
import type { Admission } from './fake-admission.js';
import { answerDeletion, deleteOptions } from './fake-deletion.js';
import type { Evictions } from './fake-evictions.js';
import { listPage, selected } from './fake-list.js';
import type { Draft, Kind, Kinds, Pod, Stored } from './fake-objects.js';
import { isObject } from './fake-patch.js';
import { patched } from './fake-patching.js';
import { apiVersionOf, RESOURCES, type Target, typed } from './fake-resources.js';
import { readAs } from './fake-schema.js';
import type { FakeStore } from './fake-store.js';
import { quantityFault, secretFault } from './fake-validation.js';
import type { Watches } from './fake-watch.js';
import { type Answer, badRequest, failure, noResource, notAllowed, notFound, ok } from './status.js';

export interface Question {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Undefined where it is no JSON. */
  body: unknown;
  text: string;
  contentType: string;
  /** Absent: anonymous. */
  account?: Account;
  gone: AbortSignal;
}

/** Answers a read of the log of a pod that there is. */
export type LogHost = (pod: Pod, query: URLSearchParams, gone: AbortSignal) => HttpAnswer | Promise<HttpAnswer>;

/** Without a type, as a log is that nobody keeps yet. */
export const NO_CONTENT: HttpAnswer = { status: 204, async *stream() {} };

interface Parts {
  store: FakeStore;
  admission: Admission;
  watches: Watches;
  evictions: Evictions;
  logs: () => LogHost | undefined;
}

/** What each verb does with objects of a kind, for one who may. */
export class Rest {
  constructor(private readonly parts: Parts) {}

  answer(kind: Kind, verb: string, target: Target, question: Question): HttpAnswer | Promise<HttpAnswer> {
    const { store, watches } = this.parts;
    const { namespace, name, subresource } = target;
    if (subresource) return this.ofSubresource(kind, subresource, target, question);
    if (verb === 'list') return listPage(store, kind, namespace, question.query);
    if (verb === 'watch') return watches.answer(kind, namespace, question.query);
    if (verb === 'create') return this.create(kind, namespace, question);
    if (verb === 'deletecollection') return this.removeAll(kind, namespace, question);
    const found = store.get(kind, namespace ?? '', name ?? '');
    if (!found) return notFound(kind, RESOURCES[kind].group, name ?? '');
    if (verb === 'get') return ok(typed(kind, found));
    if (verb === 'patch') return patched(store, kind, found, question);
    if (verb === 'delete') return this.remove(kind, found, question);
    return notAllowed();
  }

  private ofSubresource(kind: Kind, subresource: string, target: Target, question: Question) {
    const { store, evictions, logs } = this.parts;
    const { namespace = '', name = '' } = target;
    if (kind !== 'pods' || !['log', 'eviction'].includes(subresource)) return noResource();
    const pod = store.get('pods', namespace, name);
    if (!pod) return notFound(kind, '', name);
    if (subresource === 'eviction') {
      return question.method === 'POST' ? evictions.answer(pod, question.body) : notAllowed();
    }
    if (question.method !== 'GET') return notAllowed();
    return logs()?.(pod, question.query, question.gone) ?? NO_CONTENT;
  }

  private create(kind: Kind, namespace: string | undefined, question: Question): Answer {
    const { isNamespaced } = RESOURCES[kind];
    if (isNamespaced && namespace === undefined) return notAllowed();
    const read = bodyOf(kind, question);
    if (!('object' in read)) return read;
    const { metadata, ...rest } = read.object;
    const draft = { ...rest, metadata: ownMeta(metadata) };
    const where = draft.metadata.namespace;
    if (namespace !== undefined && where && where !== namespace) {
      return badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
    if (draft.metadata.resourceVersion) {
      return failure(500, '', 'resourceVersion should not be set on objects to be created');
    }
    const created = this.parts.admission.create(kind, namespace ?? '', draft as Draft<Kinds[Kind]>);
    if (!('metadata' in created)) return created;
    return { status: 201, body: typed(kind, created), ...(read.warning && { headers: { warning: read.warning } }) };
  }

  private remove(kind: Kind, found: Stored, { body, query, text }: Question): Answer {
    if (text !== '' && !isObject(body))
      return failure(500, '', "couldn't get version/kind; json parse error: unexpected end of JSON input");
    return answerDeletion(this.parts.store, kind, found, deleteOptions(body, query));
  }

  private removeAll(kind: Kind, namespace: string | undefined, { body, query }: Question): Answer {
    const { store } = this.parts;
    const matches = selected(kind, query);
    if (typeof matches !== 'function') return matches;
    const found = store.list(kind, namespace).filter(matches);
    for (const each of found) answerDeletion(store, kind, each, deleteOptions(body, query));
    return ok({
      kind: `${RESOURCES[kind].name}List`,
      apiVersion: apiVersionOf(RESOURCES[kind]),
      metadata: { resourceVersion: String(store.version) },
      items: found,
    });
  }
}

/** What a body says, as far as it is of the kind. */
function bodyOf(kind: Kind, { body, text, query }: Question): Answer | { object: Draft<Stored>; warning?: string } {
  const type = RESOURCES[kind];
  const { name } = type;
  if (!isObject(body)) {
    const why = `couldn't get version/kind; json parse error: unexpected end of JSON input (${text.slice(0, 50) || '<empty>'})`;
    return badRequest(`the object provided is unrecognized (must be of type ${name}): ${why}`);
  }
  if (body.kind !== undefined && body.kind !== name) {
    const what = `${String(body.kind)} in version "${String(body.apiVersion)}" cannot be handled as a ${name}`;
    return badRequest(
      `${what}: converting (v1.${String(body.kind)}) to (${type.group || 'core'}.${name}): unknown conversion`,
    );
  }
  const { object, unknown, fault } = readAs(kind, body);
  const what = `${name} in version "${type.version}" cannot be handled as a ${name}`;
  const unreadable = quantityFault(object) ?? (kind === 'secrets' ? secretFault(object) : undefined);
  const why = fault ?? (unreadable && `${what}: ${unreadable}`);
  if (why) return badRequest(why);
  const bogus = unknown.map((field) => `unknown field "${field}"`);
  if (bogus.length > 0 && query.get('fieldValidation') === 'Strict') {
    return badRequest(`${what}: strict decoding error: ${bogus.join(', ')}`);
  }
  const warning = bogus.map((each) => `299 - ${JSON.stringify(each)}`).join(', ');
  const isWarned = warning !== '' && query.get('fieldValidation') !== 'Ignore';
  return { object: object as unknown as Draft<Stored>, ...(isWarned && { warning }) };
}

const OF_THE_SERVER = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'];

const ownMeta = (metadata: Partial<Stored['metadata']> = {}): Partial<Stored['metadata']> =>
  Object.fromEntries(Object.entries(metadata).filter(([field]) => !OF_THE_SERVER.includes(field)));
