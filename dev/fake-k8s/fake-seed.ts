import { RESOURCES } from './fake-resources.js';
import { type Answer, notFound, ok } from './status.js';

/** An object of the API, as far as it matters. */
interface Seeded {
  metadata: { name: string; [key: string]: unknown };
  [key: string]: unknown;
}

/** What is answered in place of what there is. Tests change it as they like. */
export interface Seed {
  version: string;
  nodes: Seeded[];
  namespaces: string[];
  /** By kind as in paths, in the one namespace that has any. */
  namespaced: Record<string, Seeded[]>;
  runtimeClasses: Seeded[];
}

/** The answer to a read of a kind that is seeded. */
export function answerOf(
  seed: Seed,
  resource: keyof typeof RESOURCES,
  name: string | undefined,
  query: URLSearchParams,
): Answer {
  const items = itemsOf(seed, resource);
  if (name === undefined) return page(items, query);
  const found = items.find(({ metadata }) => metadata.name === name);
  return found ? ok(found) : notFound(resource, RESOURCES[resource].group, name);
}

function itemsOf({ nodes, namespaces, runtimeClasses, namespaced }: Seed, resource: string): Seeded[] {
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

function page(items: Seeded[], query: URLSearchParams): Answer {
  const from = Number(query.get('continue') ?? 0);
  const limit = Number(query.get('limit') ?? 0) || items.length;
  const next = from + limit < items.length ? String(from + limit) : '';
  const metadata = { resourceVersion: '1', ...(next && { continue: next }) };
  return ok({ kind: 'List', apiVersion: 'v1', metadata, items: items.slice(from, from + limit) });
}
