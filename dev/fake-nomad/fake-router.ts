import type { Route } from './fake-routes.js';

export type Found = { route: Route; id: string } | 'other method' | undefined;

/** Finds the route of a request. As Nomad does, it looks at the decoded path and takes the longest ending that it knows. */
export class Router {
  private readonly routes: readonly { route: Route; shape: RegExp }[];

  constructor(routes: readonly Route[]) {
    this.routes = routes.map((route) => ({ route, shape: shapeOf(route.pattern) }));
  }

  find(method: string, path: string): Found {
    const decoded = decodedOf(path);
    if (decoded === undefined) return undefined;
    const asked = method === 'POST' ? 'PUT' : method;
    let isKnown = false;
    for (const { route, shape } of this.routes) {
      const match = shape.exec(decoded);
      if (!match) continue;
      if (route.method === asked) return { route, id: match[1] ?? '' };
      isKnown = true;
    }
    return isKnown ? 'other method' : undefined;
  }
}

/** Of a job these are not its id. */
const ENDINGS =
  'plan|allocations|evaluations|summary|versions|evaluate|dispatch|deployments|deployment|revert|stable|scale|services|submission|periodic/force|actions|action|tag';

function shapeOf(pattern: string): RegExp {
  const [before = '', after] = pattern.split(':id');
  if (after === undefined) return new RegExp(`^${pattern}$`);
  if (pattern === '/v1/job/:id') return new RegExp(`^/v1/job/((?!.*/(?:${ENDINGS})$).+)$`, 's');
  return new RegExp(pattern.startsWith('/v1/job/') ? `^${before}(.+)${after}$` : `^${before}([^/]+)${after}$`, 's');
}

function decodedOf(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
