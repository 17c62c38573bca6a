import type { Permission } from '../../../contracts/identity.js';
import type { Reply } from './server.js';

/** What there is in workspace `team-a`, and ways to make more of it there. */
export interface AccessWorld {
  scorecard: string;
  settled: string;
  cancelled: string;
  run: string;
  cancelledRun: string;
  make(path: string, body: unknown, method?: string): Promise<Reply['body']>;
}

/**
 * How a route is called with what is in `team-a`, and how it answers. A new route gets a line here; `foreign` is said
 * where the answer differs in a workspace that has none of it.
 */
export interface RouteLine {
  permission: Permission | 'public';
  ok: number | readonly number[];
  foreign?: number | readonly number[];
  /** The path; without it the route's own. */
  path?: string | ((world: AccessWorld) => string | Promise<string>);
  body?: unknown;
  /** It acts in no workspace. */
  isAnywhere?: boolean;
}

const NEW = [200, 201];
/** Nothing in the world here is finished. */
const NO_GATE = `/gates/gate_${'0'.repeat(26)}`;
const UNKNOWN = `sc_${'0'.repeat(26)}`;
const SECRET = { use: 'env', value: 'sesame-0123456789' };
const aCase = { id: 'one', task: 'say one' };
const version = (kind: string, id: string, rest = ''): Pick<RouteLine, 'path' | 'foreign'> => ({
  path: `/${kind}/${id}/versions/1.0.0${rest}`,
  foreign: 404,
});
const of = (kind: string, key: keyof AccessWorld, rest = ''): Pick<RouteLine, 'path' | 'foreign'> => ({
  path: (world) => `/${kind}/${String(world[key])}${rest}`,
  foreign: 404,
});

let made = 0;
const aSubject = (): string => {
  made += 1;
  return `oidc:idp.example:person-${made}`;
};
const aMember: Pick<RouteLine, 'path' | 'foreign'> = {
  path: async ({ make }) => {
    const { subject } = await make('/members', { subject: aSubject(), role: 'viewer' });
    return `/members/${encodeURIComponent(subject)}`;
  },
  foreign: 404,
};

/** What is said of a registered version: of one that nothing else here uses. */
const standing = (kind: string, id: string): Record<string, RouteLine> => {
  const route = `/${kind}/:id/versions/:version`;
  const line = (rest: string): RouteLine => ({
    permission: 'curate',
    ok: 200,
    path: `/${kind}/${id}/versions/0.1.0${rest}`,
    foreign: 404,
  });
  return {
    [`PUT ${route}/tags`]: { ...line('/tags'), body: { tags: ['good'] } },
    [`POST ${route}/confirm`]: line('/confirm'),
    [`POST ${route}/deprecate`]: line('/deprecate'),
    [`POST ${route}/restore`]: line('/restore'),
  };
};

export const ROUTES: Readonly<Record<string, RouteLine>> = {
  'GET /healthz': { permission: 'public', ok: 200 },
  'GET /readyz': { permission: 'public', ok: [200, 503] },
  'GET /openapi.json': { permission: 'public', ok: 200 },
  'GET /docs': { permission: 'public', ok: 200 },
  'GET /docs/start.js': { permission: 'public', ok: 200 },
  'GET /docs/:file': { permission: 'public', ok: 200, path: '/docs/swagger-ui.css' },
  'GET /.well-known/oauth-protected-resource': { permission: 'public', ok: 200 },
  'GET /.well-known/oauth-protected-resource/mcp': { permission: 'public', ok: 200 },
  'POST /mcp': { permission: 'read', ok: 200, isAnywhere: true, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  'GET /mcp': { permission: 'read', ok: 405, isAnywhere: true },
  'DELETE /mcp': { permission: 'read', ok: 405, isAnywhere: true },
  'GET /metrics': { permission: 'operate', ok: 200, isAnywhere: true },
  'GET /audit': { permission: 'administer', ok: 200 },
  'GET /admission/audit': { permission: 'operate', ok: 200, isAnywhere: true },

  'GET /whoami': { permission: 'read', ok: 200, isAnywhere: true },
  'GET /workspaces': { permission: 'read', ok: 200, isAnywhere: true },
  'POST /workspaces': { permission: 'operate', ok: NEW, isAnywhere: true, body: { id: 'team-c' } },
  'GET /workspaces/:id': { permission: 'operate', ok: 200, isAnywhere: true, path: '/workspaces/team-a' },
  'PATCH /workspaces/:id': {
    permission: 'operate',
    ok: 200,
    isAnywhere: true,
    path: '/workspaces/team-a',
    body: { weight: 1 },
  },
  'POST /keys': { permission: 'administer', ok: 201, body: { name: 'another', role: 'viewer' } },
  'GET /keys': { permission: 'administer', ok: 200 },
  'DELETE /keys/:id': {
    permission: 'administer',
    ok: 200,
    foreign: 404,
    path: async ({ make }) => `/keys/${(await make('/keys', { name: 'to go', role: 'viewer' })).id}`,
  },
  'POST /members': { permission: 'administer', ok: NEW, body: { subject: 'ada@example.com', role: 'viewer' } },
  'GET /members': { permission: 'administer', ok: 200 },
  'PATCH /members/:subject': { permission: 'administer', ok: 200, ...aMember, body: { role: 'member' } },
  'DELETE /members/:subject': { permission: 'administer', ok: 200, ...aMember },
  'POST /ci-bindings': { permission: 'administer', ok: NEW, body: { repository: 'acme/agent' } },
  'GET /ci-bindings': { permission: 'administer', ok: 200 },
  'DELETE /ci-bindings/:id': {
    permission: 'administer',
    ok: 200,
    foreign: 404,
    path: async ({ make }) => {
      made += 1;
      return `/ci-bindings/${(await make('/ci-bindings', { repository: `acme/agent-${made}` })).id}`;
    },
  },

  'PUT /secrets/:name': { permission: 'administer', ok: NEW, path: '/secrets/token', body: SECRET },
  'GET /secrets': { permission: 'administer', ok: 200 },
  'DELETE /secrets/:name': {
    permission: 'administer',
    ok: 204,
    foreign: 404,
    path: async ({ make }) => {
      made += 1;
      return `/secrets/${(await make(`/secrets/s${made}`, SECRET, 'PUT')).name}`;
    },
  },
  'POST /secrets/rotate-key': { permission: 'operate', ok: 200, isAnywhere: true },

  'POST /datasets': { permission: 'curate', ok: NEW, body: { id: 'more', version: '1.0.0', cases: [aCase] } },
  'GET /datasets': { permission: 'read', ok: 200 },
  'GET /datasets/:id/versions/:version': { permission: 'read', ok: 200, ...version('datasets', 'tasks') },
  'GET /datasets/:id/versions/:version/cases': {
    permission: 'read',
    ok: 200,
    ...version('datasets', 'tasks', '/cases'),
  },
  'GET /datasets/:id/versions/:version/cases.jsonl': {
    permission: 'read',
    ok: 200,
    ...version('datasets', 'tasks', '/cases.jsonl'),
  },
  'POST /harnesses': {
    permission: 'register',
    ok: NEW,
    body: { kind: 'command', id: 'more', version: '1.0.0', command: 'true' },
  },
  'GET /harnesses': { permission: 'read', ok: 200 },
  'GET /harnesses/:id/versions/:version': { permission: 'read', ok: 200, ...version('harnesses', 'echo') },
  'POST /runtimes': { permission: 'register', ok: NEW, body: { kind: 'local', id: 'more', version: '1.0.0' } },
  'GET /runtimes': { permission: 'read', ok: 200 },
  'GET /runtimes/:id/versions/:version': { permission: 'read', ok: 200, ...version('runtimes', 'here') },
  'POST /runtimes/validate': { permission: 'register', ok: 200, body: {} },
  'POST /runtimes/probe': { permission: 'register', ok: 200, body: { kind: 'local', id: 'more', version: '1.0.0' } },
  // No worker takes local jobs here.
  'GET /runtimes/:id/versions/:version/inspect': {
    permission: 'register',
    ok: 503,
    ...version('runtimes', 'here', '/inspect'),
  },
  'GET /runtimes/:id/admission': { permission: 'read', ok: 200, foreign: 404, path: '/runtimes/here/admission' },
  'PATCH /runtimes/:id/admission': {
    permission: 'administer',
    ok: 200,
    foreign: 404,
    path: '/runtimes/here/admission',
    body: { mode: 'open' },
  },
  'POST /runtimes/:id/admission/reset-circuit': {
    permission: 'administer',
    ok: 202,
    foreign: 404,
    path: '/runtimes/here/admission/reset-circuit',
  },
  ...standing('datasets', 'tasks'),
  ...standing('harnesses', 'echo'),
  ...standing('runtimes', 'here'),

  'POST /policies': {
    permission: 'curate',
    ok: NEW,
    body: { id: 'merge', version: '1.0.0', minPassRate: 1 },
  },
  'GET /policies': { permission: 'read', ok: 200 },
  'GET /policies/:id/versions/:version': {
    permission: 'read',
    ok: 200,
    foreign: 404,
    path: async ({ make }) => {
      const { id } = await make('/policies', { id: 'strict', version: '1.0.0', minPassRate: 1 });
      return `/policies/${id}/versions/1.0.0`;
    },
  },
  'GET /gates': { permission: 'read', ok: 200 },
  'GET /gates/:id': { permission: 'read', ok: 404, path: NO_GATE },
  'POST /gates/:id/override': {
    permission: 'curate',
    ok: 404,
    path: `${NO_GATE}/override`,
    body: { verdict: 'pass', reason: 'seen by eye' },
  },
  'POST /scorecards/gate': {
    permission: 'run',
    ok: 404,
    body: { candidate: UNKNOWN, policy: { minPassRate: 1 } },
  },

  'POST /scorecards': {
    permission: 'run',
    ok: 202,
    foreign: 404,
    body: { dataset: 'tasks', harness: 'echo', runtime: 'here' },
  },
  'GET /scorecards': { permission: 'read', ok: 200 },
  'GET /scorecards/diff': {
    permission: 'read',
    // It still runs.
    ok: 409,
    foreign: 404,
    path: ({ scorecard }) => `/scorecards/diff?baseline=${scorecard}&candidate=${scorecard}`,
  },
  'GET /scorecards/:id': { permission: 'read', ok: 200, ...of('scorecards', 'scorecard') },
  'GET /scorecards/:id/trials': { permission: 'read', ok: 200, ...of('scorecards', 'scorecard', '/trials') },
  'GET /scorecards/:id/cases': { permission: 'read', ok: 200, ...of('scorecards', 'scorecard', '/cases') },
  'GET /scorecards/:id/export': { permission: 'read', ok: 200, ...of('scorecards', 'scorecard', '/export') },
  'GET /scorecards/:id/stragglers': { permission: 'read', ok: 200, ...of('scorecards', 'scorecard', '/stragglers') },
  'GET /scorecards/:id/events': { permission: 'read', ok: 200, ...of('scorecards', 'scorecard', '/events') },
  'POST /scorecards/:id/cancel': { permission: 'stop', ok: 200, ...of('scorecards', 'cancelled', '/cancel') },
  'POST /scorecards/:id/pause': { permission: 'stop', ok: 200, ...of('scorecards', 'scorecard', '/pause'), body: {} },
  'POST /scorecards/:id/resume': { permission: 'stop', ok: 200, ...of('scorecards', 'scorecard', '/resume') },
  'POST /scorecards/:id/regrade': {
    permission: 'curate',
    ok: 409,
    ...of('scorecards', 'scorecard', '/regrade'),
    body: { graders: [{ kind: 'contains', value: 'say' }] },
  },
  'POST /scorecards/:id/retry': { permission: 'stop', ok: 409, ...of('scorecards', 'scorecard', '/retry') },
  'POST /scorecards/:id/cases/:caseId/settle': {
    permission: 'curate',
    ok: 200,
    ...of('scorecards', 'settled', '/cases/case-0/settle'),
    body: { outcome: 'failed', reason: 'seen by eye' },
  },
  'GET /retention': { permission: 'read', ok: 200 },
  'PUT /retention': { permission: 'administer', ok: 200, body: { resultsDays: null, logsDays: null } },
  // It has not ended.
  'DELETE /scorecards/:id': { permission: 'curate', ok: 409, ...of('scorecards', 'scorecard') },
  'POST /scorecards/:id/restore': { permission: 'curate', ok: 200, ...of('scorecards', 'scorecard', '/restore') },
  // Nothing is pinned, nor completed.
  'PUT /baselines/:name': { permission: 'curate', ok: 404, path: '/baselines/main', body: { scorecard: UNKNOWN } },
  'GET /baselines': { permission: 'read', ok: 200 },
  'GET /baselines/:name': { permission: 'read', ok: 404, path: '/baselines/main' },
  'DELETE /baselines/:name': { permission: 'curate', ok: 404, path: '/baselines/main' },
  'POST /runs': {
    permission: 'run',
    ok: 202,
    foreign: 404,
    body: { case: aCase, harness: 'echo', runtime: 'here' },
  },
  'GET /runs': { permission: 'read', ok: 200 },
  'GET /runs/:id': { permission: 'read', ok: 200, ...of('runs', 'run') },
  'GET /runs/:id/attempts': { permission: 'read', ok: 200, ...of('runs', 'run', '/attempts') },
  'GET /runs/:id/logs': { permission: 'read', ok: 200, ...of('runs', 'run', '/logs') },
  'GET /runs/:id/waiting': { permission: 'read', ok: 200, ...of('runs', 'run', '/waiting') },
  'GET /queue': { permission: 'read', ok: 200 },
  'POST /simulate': {
    permission: 'read',
    ok: 200,
    foreign: 404,
    body: { runtime: 'here', change: { slots: 2 } },
  },
  'POST /queue/:runId/promote': { permission: 'curate', ok: 200, ...of('queue', 'run', '/promote') },
  'POST /runs/:id/cancel': { permission: 'stop', ok: 200, ...of('runs', 'cancelledRun', '/cancel') },
};
