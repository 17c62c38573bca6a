import type { Kind, Stored } from './fake-objects.js';
import { apiVersionOf, RESOURCES } from './fake-resources.js';
import { fieldSelector, labelSelector, type Matches } from './fake-selectors.js';
import type { FakeStore } from './fake-store.js';
import { type Answer, badRequest, failure, ok } from './status.js';

/** What a query selects, or why it cannot. */
export function selected(kind: Kind, query: URLSearchParams): Matches | Answer {
  const byLabel = labelSelector(query.get('labelSelector') ?? '');
  const byField = fieldSelector(kind, query.get('fieldSelector') ?? '');
  if (typeof byLabel === 'string') return badRequest(byLabel);
  if (typeof byField === 'string') return badRequest(byField);
  return (object) => byLabel(object) && byField(object);
}

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** One page of what there is; places are by name, so that what comes and goes shifts nothing. */
export function listPage(store: FakeStore, kind: Kind, namespace: string | undefined, query: URLSearchParams): Answer {
  const matches = selected(kind, query);
  if (typeof matches !== 'function') return matches;
  const asked = Number(query.get('resourceVersion') ?? 0);
  if (asked > store.version) return tooNew(asked, store.version);
  const place = placeOf(query.get('continue'));
  if (place === 'no token') return badRequest('invalid continue token: continue key is not valid');
  if (place && place.version < store.oldestVersion) {
    return failure(410, 'Expired', TOO_OLD);
  }
  const found = store.list(kind, namespace).filter(matches);
  const rest = place ? found.filter((each) => pathOf(each) > place.after) : found;
  const limit = Number(query.get('limit') ?? 0) || rest.length;
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const version = place?.version ?? store.version;
  return ok({
    kind: `${RESOURCES[kind].name}List`,
    apiVersion: apiVersionOf(RESOURCES[kind]),
    metadata: {
      resourceVersion: String(version),
      ...(last && rest.length > limit && { continue: tokenOf({ version, after: pathOf(last) }) }),
    },
    items,
  });
}

interface Place {
  version: number;
  after: string;
}

const pathOf = ({ metadata }: Stored): string => `${metadata.namespace ?? ''}/${metadata.name}`;
const tokenOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url');

function placeOf(token: string | null): Place | undefined | 'no token' {
  if (!token) return undefined;
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as Place;
  } catch {
    return 'no token';
  }
}

function tooNew(asked: number, current: number): Answer {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  const refused = failure(504, 'Timeout', `Timeout: ${message}`, { causes, retryAfterSeconds: 1 });
  return { ...refused, headers: { 'retry-after': '1' } };
}
